//! Judgements over a transcript. Pure: "now" is a parameter.

pub mod activity;
pub mod alarm;
pub mod calls;
pub mod context;
pub mod cost;
pub mod errors;
pub mod expression;
pub mod ledger;
pub mod lint;
pub mod models;
pub mod oddities;
pub mod pairing;
pub mod phrases;
pub mod plans;
pub mod prices;
pub mod scope;
pub mod texts;
pub mod troubles;
