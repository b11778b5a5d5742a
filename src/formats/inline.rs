//! Data that stands in a record as base64: nothing of it is kept but how large it is.

/// Bytes that base64 text stands for, written bare or as a data URL.
pub(crate) fn decoded_size(data: &str) -> u64 {
    let is_url = data.starts_with("data:");
    let data = if is_url { data.split_once(',').map_or("", |(_, data)| data) } else { data };
    data.trim_end_matches('=').len() as u64 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::decoded_size;

    #[test]
    fn padding_and_heads_are_no_data() {
        assert_eq!(["", "aGk=", "aGkh", "data:image/png;base64,aGk="].map(decoded_size), [0, 2, 3, 2]);
    }
}
