//! Judgements over a transcript. Pure: "now" is a parameter.

pub mod activity;
pub mod agents;
pub mod alarm;
pub mod calls;
pub mod compare;
pub mod context;
pub mod cost;
pub mod errors;
pub mod expression;
pub mod ledger;
pub mod lint;
pub mod models;
pub mod oddities;
pub mod pairing;
pub mod paths;
pub mod phrases;
pub mod plans;
pub mod prices;
pub mod scope;
pub mod spending;
pub mod texts;
pub mod timeline;
pub mod troubles;
