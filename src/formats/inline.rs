//! Base64 data in records: only its size is stored.

use crate::model::body::Image;
use crate::model::edit::Batch;
use crate::model::text::Text;

/// Creates an image from its address: a URL, a data URL, or the data itself (`is_data`).
pub(crate) fn image(address: &str, mime: Text, is_data: bool, out: &Batch) -> Image {
    let inline = address.strip_prefix("data:");
    let named = inline
        .and_then(|rest| rest.split([';', ',']).next())
        .map(Text::clean);
    let (is_data, is_there) = (is_data || inline.is_some(), !address.is_empty());
    Image {
        mime: if mime.is_blank() {
            named.unwrap_or_default()
        } else {
            mime
        },
        bytes: (is_data && is_there).then(|| decoded_size(address)),
        source: (!is_data && is_there).then(|| Text::clean(address)),
        origin: out.origin(),
    }
}

/// The size in bytes of base64 data, bare or in a data URL.
pub(crate) fn decoded_size(data: &str) -> u64 {
    let is_url = data.starts_with("data:");
    let data = if is_url {
        data.split_once(',').map_or("", |(_, data)| data)
    } else {
        data
    };
    data.trim_end_matches('=').len() as u64 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::decoded_size;

    #[test]
    fn padding_and_heads_are_no_data() {
        assert_eq!(
            ["", "aGk=", "aGkh", "data:image/png;base64,aGk="].map(decoded_size),
            [0, 2, 3, 2]
        );
    }
}
