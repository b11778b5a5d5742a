//! Judgements over a transcript. Pure: "now" is a parameter.

pub mod activity;
pub mod agents;
pub mod cache_breaks;
pub mod calls;
pub mod compare;
pub mod context;
pub mod cost;
pub mod files;
pub mod flights;
pub mod ledger;
pub mod lint;
pub mod models;
pub mod oddities;
pub mod pairing;
pub mod paths;
pub mod phrases;
pub mod plans;
pub mod prices;
pub mod seen;
pub mod spending;
pub mod timeline;
pub mod window;
