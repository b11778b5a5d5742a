//! Figures and findings derived from a transcript. Pure functions: the current time is a parameter.

pub mod account;
pub mod activity;
pub mod agents;
pub mod alarm;
pub(crate) mod align;
pub mod anomalies;
pub(crate) mod background;
pub mod brief;
pub mod by;
pub mod calls;
pub(crate) mod compare;
pub mod context;
pub mod derived;
pub mod expression;
pub mod files;
pub mod ledger;
pub mod lint;
pub mod loops;
pub mod money;
pub mod phrases;
pub(crate) mod plans;
pub(crate) mod reading;
pub mod search;
pub(crate) mod shell;
pub mod timeline;
pub mod wall;
