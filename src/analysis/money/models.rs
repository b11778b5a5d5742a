//! Model names: one canonical name per model, whichever provider's spelling an agent recorded.

use crate::model::text::is_listed;

/// The name without provider, region, date and variant:
/// `us.anthropic.claude-opus-4-1-20250805-v1:0` and `anthropic/claude-opus-4.1` are both
/// `claude-opus-4-1`.
///
/// A suffix that changes the price (`-fast`) stays, so that the name does not match another model's
/// price.
pub fn canonical(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    // Bedrock writes `region.vendor.model-v1:0`.
    let name = name
        .rsplit_once("anthropic.")
        .map_or(name, |(_, model)| model);
    let name = name.split(['@', ':', '[']).next().unwrap_or_default();
    let name = without_version(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let name = without_date(name);
    // Gateways name the thinking variant separately; it has the same price.
    let name = name.strip_suffix("-thinking").unwrap_or(name);
    if !name.starts_with("claude") {
        return name.to_owned();
    }
    // Anthropic writes `4-5`, OpenRouter and Copilot write `4.5`; `4-0` is an alias of `4`.
    let name = name.replace('.', "-");
    name.strip_suffix("-4-0")
        .map(|family| format!("{family}-4"))
        .unwrap_or(name)
}

/// Whether a list price applies to a model name: not if a gateway offers it for free (`…:free`), if
/// it runs locally or by subscription (`ollama/…`, `glm-5:cloud`, `qwen3:8b`), or if a provider
/// other than its maker sells it at another price.
pub(crate) fn has_list_price(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let (path, last) = name.rsplit_once('/').unwrap_or_default();
    let last = if path.is_empty() { name.as_str() } else { last };
    let is_own = |part: &str| is_listed(part, OWN_PROVIDERS);
    let tag = last.split_once(':').map(|(_, tag)| tag);
    let is_sold_on = path.split('/').any(|part| {
        let seller = SELLERS.iter().find(|(sellers, _)| is_listed(part, sellers));
        seller.is_some_and(|(_, models)| {
            !models
                .split_whitespace()
                .any(|model| canonical(last).starts_with(model))
        })
    });
    !is_sold_on
        && !path.split('/').any(is_own)
        && tag.is_none_or(|tag| tag != "free" && !is_tag_of_ollama(tag))
}

/// Providers whose models run locally or are paid by the month.
const OWN_PROVIDERS: &str = "ollama ollama_chat ollama-cloud lmstudio lm-studio lm_studio llama.cpp llamacpp llamafile \
    local localai oss vllm hosted_vllm sglang mlx jan github-copilot github_copilot zai-coding-plan kimi-for-coding qwen-oauth";

/// Providers that sell models of other makers, and the models that they sell at the maker's price.
/// The list prices of Azure and Vertex were compared with those of the makers in the table of
/// litellm. OpenRouter adds nothing for models that only the maker sells, but does not say whose
/// machines run an open model.
const SELLERS: [(&str, &str); 6] = [
    ("openrouter", "claude gpt- o1 o3 o4 gemini grok"),
    ("azure", "gpt- o1 o3 o4"),
    ("azure_ai", "claude gpt-"),
    ("vertex_ai google-vertex", "claude gemini"),
    ("bedrock amazon-bedrock", "claude nova"),
    (
        "groq cerebras together together_ai togetherai fireworks fireworks_ai fireworks-ai deepinfra sambanova baseten \
         novita siliconflow huggingface nvidia_nim",
        "",
    ),
];

/// Whether a tag is one of Ollama's `model:tag`, which names the location or the size: `cloud`,
/// `120b-cloud`, `8b`, `latest`.
fn is_tag_of_ollama(tag: &str) -> bool {
    let size = tag.split('-').next().unwrap_or_default();
    let number = size.strip_suffix(['b', 'm']).unwrap_or_default();
    let is_size = number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_size || tag == "latest" || tag == "cloud" || tag.ends_with("-cloud")
}

/// Whether the model runs within a region, which costs a tenth more: on Azure `azure/eu/…`; on
/// Bedrock `us.anthropic.…`, and `anthropic.…` for the region of the endpoint, while
/// `global.anthropic.…` is any region. Bedrock charges so since version 4.5.
pub(crate) fn is_regional(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    if ["azure/us/", "azure/eu/"]
        .iter()
        .any(|region| name.starts_with(region))
    {
        return true;
    }
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_within = match name.split_once("anthropic.") {
        Some((region, _)) => region.strip_suffix('.').unwrap_or(region) != "global",
        None => false,
    };
    is_within && version(&canonical(name)).is_some_and(|version| version >= (4, 5))
}

/// The version of an Anthropic model by its canonical name: `claude-opus-4-1` is 4.1.
fn version(name: &str) -> Option<(u32, u32)> {
    let mut parts = name
        .strip_prefix("claude-")?
        .split('-')
        .filter_map(|part| part.parse().ok());
    Some((parts.next()?, parts.next().unwrap_or(0)))
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
    let is_number = |part: &str, digits: usize| {
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
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
    use super::{canonical, has_list_price, is_regional};

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
        assert_eq!(
            canonical("claude-sonnet-4-0"),
            canonical("claude-sonnet-4-20250514")
        );
        assert_eq!(canonical("gpt-4o-2024-08-06"), "gpt-4o");
        assert_eq!(canonical("openai/gpt-5.1-codex"), "gpt-5.1-codex");
        assert_eq!(canonical("claude-3-5-sonnet-latest"), "claude-3-5-sonnet");
        assert_eq!(canonical(""), "");
    }

    #[test]
    fn what_runs_at_home_or_by_subscription_has_no_list_price() {
        for name in [
            "openai/gpt-4o:free",
            "glm-5:cloud",
            "gpt-oss:120b-cloud",
            "qwen3:8b",
            "ollama/glm-5",
            "qwen3:0.6b-q4",
            "glm-5:latest",
            "openrouter/deepseek/deepseek-chat",
            "groq/moonshotai/kimi-k2.5",
            "azure_ai/deepseek-v3.2",
            "github-copilot/claude-opus-4.6",
            "lmstudio/gpt-5",
        ] {
            assert!(!has_list_price(name), "{name}");
        }
        for name in [
            "glm-5",
            "openrouter/anthropic/claude-opus-4.1:thinking",
            "us.anthropic.claude-opus-4-1-20250805-v1:0",
            "claude-opus-4-1[1m]",
            "deepseek/deepseek-chat",
            "openrouter/x-ai/grok-4.5",
            "azure/gpt-5",
            "vertex_ai/claude-opus-4-6@20260205",
            "moonshot-ai/kimi-k2.7-code",
        ] {
            assert!(has_list_price(name), "{name}");
        }
    }

    #[test]
    fn regions_of_bedrock_are_not_the_world() {
        for name in [
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "bedrock/eu.anthropic.claude-opus-5-v1:0",
            "anthropic.claude-haiku-4-5-20251001-v1:0",
        ] {
            assert!(is_regional(name), "{name}");
        }
        for name in [
            "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
            "claude-sonnet-4-5",
            "anthropic/claude-sonnet-4.5",
        ] {
            assert!(!is_regional(name), "{name}");
        }
    }

    #[test]
    fn a_suffix_with_its_own_price_stays() {
        assert_eq!(
            canonical("anthropic/claude-opus-4.8-fast"),
            "claude-opus-4-8-fast"
        );
    }
}
