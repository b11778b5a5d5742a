//! The fields that records of a format are known to have at their top level, whether its decoder
//! reads them or not: `[fields]` of its definition. Any other field is new or misspelt; the doctor
//! lists it.

use super::json::Json;
use crate::model::edit::Batch;

/// Fields of all records, and further ones by type. Records of other types are not checked, as the
/// decoder reports these as unknown. By default no type is known, so no field is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownFields {
    /// Fields of records of all types.
    pub(crate) common: &'static [&'static str],
    pub(crate) types: &'static [(&'static str, &'static [&'static str])],
}

impl KnownFields {
    /// Counts the fields of a record that are not known for its type.
    pub(crate) fn check(&self, record: &Json<'_>, out: &mut Batch) {
        let Some(kind) = record.get("type").str() else {
            return;
        };
        let Some((kind, own)) = self.types.iter().find(|(known, _)| *known == kind) else {
            return;
        };
        // Records mostly have their fields in the same order: the search for a field begins after
        // the one before it.
        let known = || self.common.iter().chain(*own);
        let mut rest = known();
        for (field, _) in record.members() {
            if rest.any(|known| known == field) {
                continue;
            }
            rest = known();
            if !rest.any(|known| known == field) {
                out.unknown_field(kind, field);
                rest = known();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::definition::heads;
    use crate::formats::json;
    use crate::model::edit::Batch;
    use crate::model::text::Text;

    #[test]
    fn only_new_fields_of_known_records_are_listed() {
        let mut out = Batch::default();
        for record in [
            r#"{"type":"user","uuid":"u1","timesstamp":"2026","message":{"mood":"new"}}"#,
            r#"{"type":"user","timesstamp":"2026"}"#,
            r#"{"type":"hologram","depth":3}"#,
            r#"{"depth":3}"#,
        ] {
            let fields = heads::of("claude-code").unwrap().fields;
            fields.check(&json::parse(record).unwrap(), &mut out);
        }
        let listed: Vec<(&str, u64)> = out
            .tally
            .unknown_fields
            .iter()
            .map(|(what, (n, _))| (Text::as_str(what), *n))
            .collect();
        assert_eq!(listed, [("user.timesstamp", 2)]);
    }
}
