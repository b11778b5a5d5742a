//! Names of models: one name for one model, whichever provider's spelling an agent recorded.

/// The name without provider, region, date and variant: `us.anthropic.claude-opus-4-1-20250805-v1:0`
/// and `anthropic/claude-opus-4.1` are both `claude-opus-4-1`.
///
/// A suffix that changes the price (`-fast`) stays, so that the name finds no price by accident.
pub fn canonical(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    // Bedrock writes `region.vendor.model-v1:0`.
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, model)| model);
    let name = name.split(['@', ':', '[']).next().unwrap_or_default();
    let name = without_version(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let name = without_date(name);
    // Gateways name the thinking variant apart; it costs the same.
    let name = name.strip_suffix("-thinking").unwrap_or(name);
    if !name.starts_with("claude") {
        return name.to_owned();
    }
    // Anthropic writes `4-5`, OpenRouter and Copilot write `4.5`; `4-0` is an alias of `4`.
    let name = name.replace('.', "-");
    name.strip_suffix("-4-0").map(|family| format!("{family}-4")).unwrap_or(name)
}

/// Whether a gateway gives the model away (`deepseek/deepseek-r1:free`): its list price does not apply.
pub fn is_free_variant(name: &str) -> bool {
    name.trim().to_ascii_lowercase().ends_with(":free")
}

/// Strips `-v1`, `-v2`, … of Bedrock.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("-v") {
        Some((model, version))
            if model.starts_with("claude") && version.bytes().all(|b| b.is_ascii_digit()) =>
        {
            model
        }
        _ => name,
    }
}

/// Strips `-20250929` and `-2025-09-29`.
fn without_date(name: &str) -> &str {
    let is_number =
        |part: &str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((model, date)) = name.rsplit_once('-')
        && is_number(date, 8)
    {
        return model;
    }
    let mut parts = name.rsplitn(4, '-');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(day), Some(month), Some(year), Some(model))
            if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) =>
        {
            model
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn spellings_of_one_model_are_one_name() {
        for name in [
            "claude-opus-4-1",
            "claude-opus-4-1-20250805",
            "claude-opus-4-1@20250805",
            "anthropic/claude-opus-4.1",
            "us.anthropic.claude-opus-4-1-20250805-v1:0",
            "openrouter/anthropic/claude-opus-4.1:thinking",
            "claude-opus-4-1[1m]",
            "claude-opus-4-1-thinking",
        ] {
            assert_eq!(canonical(name), "claude-opus-4-1", "{name}");
        }
        assert_eq!(canonical("claude-sonnet-4-0"), canonical("claude-sonnet-4-20250514"));
        assert_eq!(canonical("gpt-4o-2024-08-06"), "gpt-4o");
        assert_eq!(canonical("openai/gpt-5.1-codex"), "gpt-5.1-codex");
        assert_eq!(canonical("claude-3-5-sonnet-latest"), "claude-3-5-sonnet");
        assert_eq!(canonical(""), "");
    }

    #[test]
    fn a_suffix_with_its_own_price_stays() {
        assert_eq!(canonical("anthropic/claude-opus-4.8-fast"), "claude-opus-4-8-fast");
    }
}
