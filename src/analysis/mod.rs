//! Judgements over a transcript. Pure: "now" is a parameter.

pub mod activity;
pub mod calls;
pub mod context;
pub mod cost;
pub mod files;
pub mod flights;
pub mod ledger;
pub mod lint;
pub mod models;
pub mod oddities;
pub mod pairing;
pub mod phrases;
pub mod plans;
pub mod prices;
