//! Judgements over a transcript. Pure: "now" is a parameter.

pub mod activity;
pub mod cache_breaks;
pub mod calls;
pub mod context;
pub mod cost;
pub mod ledger;
pub mod lint;
pub mod models;
pub mod oddities;
pub mod pairing;
pub mod phrases;
pub mod plans;
pub mod prices;
pub mod seen;
pub mod window;
