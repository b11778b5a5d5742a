//! UUIDs as they are spelled in ids: most records have two, which compression cannot shorten.

/// Places of the hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// Length in bytes.
const SPELLED: usize = 36;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of a UUID; `None` if the text is none or is spelled in another way.
pub(super) fn value_of(text: &str) -> Option<u128> {
    if text.len() != SPELLED {
        return None;
    }
    let mut value = 0;
    for (at, byte) in text.bytes().enumerate() {
        let digit = match byte {
            b'-' if HYPHENS.contains(&at) => continue,
            _ if HYPHENS.contains(&at) => return None,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        value = (value << 4) | u128::from(digit);
    }
    Some(value)
}

/// The spelling of a UUID.
pub(super) fn spelling_of(value: u128) -> String {
    let mut text = String::with_capacity(SPELLED);
    for byte in value.to_be_bytes() {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            let digit = DIGITS.get(usize::from(digit)).copied().unwrap_or_default();
            text.push(char::from(digit));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{spelling_of, value_of};

    proptest! {
        #[test]
        fn a_uuid_is_spelled_as_it_was(value: u128) {
            let spelled = spelling_of(value);
            assert_eq!(value_of(&spelled), Some(value));
            assert_eq!(spelled.replace('-', ""), format!("{value:032x}"));
        }
    }

    #[test]
    fn other_spellings_are_no_uuids() {
        for text in [
            "",
            "c597741d-72cf-45db-98dc-6664e6af066",
            "c597741d-72cf-45db-98dc-6664e6af06611",
            "C597741D-72cf-45db-98dc-6664e6af0661",
            "c597741d72cf-45db-98dc-6664e6af06612-",
            "c597741d-72cf-45db-98dc06664e6af0661",
            "-597741d-72cf-45db-98dc-6664e6af0661",
            "c597741d-72cf-45db-98dc-6664e6af066g",
        ] {
            assert_eq!(value_of(text), None, "{text}");
        }
    }
}
