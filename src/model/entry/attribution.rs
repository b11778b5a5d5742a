//! What a request was made for.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::text::Name;

/// What a request was made for, as far as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attribution {
    /// The skill in use.
    pub skill: Option<Name>,
    /// The type of the sub-agent that made it.
    pub sub_agent: Option<Name>,
    pub branch: Option<Name>,
    pub mcp: Option<Name>,
    pub tool: Option<Name>,
}

/// An attribution that many entries share.
pub type SharedAttribution = Option<Arc<Attribution>>;

pub(super) fn serialize<S: Serializer>(
    shared: &SharedAttribution,
    to: S,
) -> Result<S::Ok, S::Error> {
    shared.as_deref().serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<SharedAttribution, D::Error> {
    Ok(Option::<Attribution>::deserialize(from)?.map(Arc::new))
}
