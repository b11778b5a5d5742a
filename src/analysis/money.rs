//! Cost of a session: model names, list prices, the cost of usage, and charges.

pub mod cost;
pub mod models;
pub mod prices;
pub mod spending;
