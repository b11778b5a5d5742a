//! What a session costs: names of models, their list prices, the cost of one use, and what was spent on what.

pub mod cost;
pub mod models;
pub mod prices;
pub mod spending;
