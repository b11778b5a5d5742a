//! How keys, tokens and passwords look, by who issues them. The prefixes are public facts.

/// What of a match is hidden besides its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    /// Always.
    Yes,
    /// If there is a digit in it: words could have this shape, too.
    WithDigit,
    /// If it looks like a value that was given to a name: code does so, too.
    AsValue,
}

/// A kind of secret. What the first group matches stays, what is before it, too.
pub(super) struct Shape {
    /// `<` stands for the beginning of a word, which an escaped line end may also be.
    pub(super) pattern: &'static str,
    pub(super) sure: Sure,
}

const fn certain(pattern: &'static str) -> Shape {
    Shape {
        pattern,
        sure: Sure::Yes,
    }
}

const fn likely(pattern: &'static str) -> Shape {
    Shape {
        pattern,
        sure: Sure::WithDigit,
    }
}

const fn assigned(pattern: &'static str) -> Shape {
    Shape {
        pattern,
        sure: Sure::AsValue,
    }
}

pub(super) const SHAPES: &[Shape] = &[
    // Private keys, also with their line ends written as `\n`, and such as break off.
    certain(
        r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)(?:[^\x22]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,.-]*)",
    ),
    certain(r"(AGE-SECRET-KEY-(?:PQ-)?1)[A-Z0-9]{20,}"),
    certain(r"(Private-Lines: \d+)(?:\s|\\[nr])+[A-Za-z0-9+/=\s\\]{40,}"),
    // Anthropic, OpenAI, OpenRouter and those that follow them.
    certain(r"<(sk-ant-)[A-Za-z0-9_-]{8,}"),
    likely(r"<(sk-(?:proj-|svcacct-|admin-|or-v1-|lf-|or-)?)[A-Za-z0-9_-]{16,}"),
    certain(
        r"<(ctx7sk-|csk-|nvapi-|tvly-(?:dev-|prod-)?|fw_|pcsk_|lsv2_[ps][tk]_|jina_|apify_api_|vc[piark]_|cf(?:k|ut|at)_|tgp_v1_|wandb_v1_|napi_|vercel_blob_rw_)[A-Za-z0-9_-]{20,}",
    ),
    // Groq, xAI, Perplexity, Hugging Face, Replicate, Cursor, E2B, Cerebras, ElevenLabs, Firecrawl, Resend, PostHog.
    certain(r"<(gsk_|xai-|pplx-|hf_|api_org_|r8_|phx_|sess-)[A-Za-z0-9_]{20,}"),
    likely(r"<(pa-|BSA)[A-Za-z0-9_-]{27,}"),
    certain(r"<(crsr_|e2b_|sk_|fc-)[0-9a-f]{32,}"),
    certain(r"<(re_)[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}"),
    // GitHub, GitLab, Bitbucket and Atlassian, Sourcegraph, CircleCI, Buildkite.
    certain(r"<(gh[opsur]_)[A-Za-z0-9]{16,}"),
    certain(r"<(github_pat_)[A-Za-z0-9_]{16,}"),
    certain(
        r"<(gl(?:pat|ptt|rt|rtr|cbt|dt|ft|imt|agent|oas|soat|ffct|wt)-|GR1348941)[A-Za-z0-9_.-]{16,}",
    ),
    certain(r"<(AT(?:ATT3|CTT3|BB)|xkeysib-|xsmtpsib-|bkua_|CCIP(?:AT|RJ)_)[A-Za-z0-9_=-]{20,}"),
    certain(r"<(BBDC-)[A-Za-z0-9+/@_-]{40,}"),
    certain(r"(_gitlab_session=)[0-9a-z]{32}"),
    certain(r"<(sgp_(?:local_|[0-9a-fA-F]{16}_)?|slk_)[0-9a-fA-F]{40,}"),
    // Amazon, Alibaba, Tencent.
    certain(r"<(A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    certain(r"<(ABSK)[A-Za-z0-9+/]{60,}={0,2}"),
    certain(r"<(bedrock-api-key-)[A-Za-z0-9+/=]{20,}"),
    certain(r#"(?i)(aws_?secret_?access_?key[\\"']{0,2}\s*[=:]\s*[\\"']{0,2})[A-Za-z0-9/+=]{40}"#),
    certain(r"<(LTAI)[A-Za-z0-9]{12,24}\b"),
    certain(r"<(AKID)[A-Za-z0-9]{32}\b"),
    // Google, Azure, DigitalOcean, Heroku, Cloudflare, Fly, Vercel, Netlify, Render, Yandex, Databricks, PlanetScale, Supabase.
    certain(r"<(AIza)[0-9A-Za-z_-]{30,}"),
    certain(r"<(AQ\.Ab)[0-9A-Za-z_-]{30,}"),
    certain(r"<(ya29\.|GOCSPX-|1//0)[0-9A-Za-z_-]{16,}"),
    certain(r"()[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    certain(r"(?i)((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,}={0,2}"),
    certain(r#"(?i)(key[\\"']{0,2}\s*[=:]\s*[\\"']{0,2})[A-Za-z0-9+/]{86}=="#),
    certain(r"<()[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+ABa|\+AMC|\+ASt)[A-Za-z0-9+/]{5}[AQgw]=="),
    certain(r"<()[A-Za-z0-9+/]{33}(?:AIoT|\+ASb|\+AEh|\+ARm)[A-P][A-Za-z0-9+/]{5}="),
    certain(r"<()(?:[A-Za-z0-9]{42}AzSe|[A-Za-z0-9+/]{42}\+ACR)[A-Za-z0-9]{6}\b"),
    certain(r"<()[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]=="),
    certain(r"<()[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}\b"),
    certain(
        r"<([01]\.A)[A-Za-z0-9_-]{50,}(?:\.\d)?\.Ag[A-Za-z0-9_-]{100,}(?:\.A[A-Za-z0-9_-]{100,})?",
    ),
    certain(r"(?i)([?&]sig=)[A-Za-z0-9%/+=]{40,}"),
    certain(r"<(do[opr]_v1_)[0-9a-f]{32,}"),
    certain(r"<(HRKU-AA)[0-9A-Za-z_-]{40,}"),
    certain(r"<(v1\.0-)[0-9A-Za-z-]{140,}"),
    certain(r"<(fo1_|fm\d+[ar]?_)[A-Za-z0-9+/_-]{40,}={0,3}"),
    certain(r"<(nfp_|rnd_|dd[pw]_)[A-Za-z0-9]{28,}"),
    certain(r"<(dapi|dkea|dose)[0-9a-f]{32}(?:-\d)?\b"),
    certain(r"<(pscale_(?:tkn|oauth|pw)_)[A-Za-z0-9_=.-]{32,}"),
    certain(r"<(sbp_(?:v0_)?)[0-9a-z]{40}"),
    certain(r"<(sb_secret_)[A-Za-z0-9_-]{20,}"),
    certain(r"<(t1\.[A-Z0-9a-z_-]+={0,2}\.)[A-Z0-9a-z_-]{80,}={0,2}"),
    certain(r"<(AQVN)[A-Za-z0-9_-]{35,38}\b"),
    likely(r"<(4b1d)[A-Za-z0-9]{38}\b"),
    // Vault, Terraform, Doppler, Pulumi, Prefect, Tailscale, Kubernetes, 1Password, Docker.
    certain(r"<(hv[sbr]\.)[A-Za-z0-9_-]{24,}"),
    certain(r"<([A-Za-z0-9]{14}\.atlasv1\.)[A-Za-z0-9_=-]{60,}"),
    certain(r"<(dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]+\.)?)[A-Za-z0-9]{40,}"),
    certain(r"<(pul-)[0-9a-z]{40}"),
    certain(r"<([ps]at\.[A-Za-z0-9_-]{22}\.)[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b"),
    certain(
        r"<((?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-])[a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    ),
    certain(r"<(dnkey-)[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    certain(r"<(pn[ub]_)[A-Za-z0-9]{36}\b"),
    certain(r"<(tskey-[a-z]+-)[A-Za-z0-9_-]{12,}"),
    certain(r"<(sha256~)[A-Za-z0-9_-]{43}"),
    certain(r"<(A3-[A-Z0-9]{6}-)[A-Z0-9]{5,11}(?:-[A-Z0-9]{5,6}){3,4}\b"),
    certain(r"<(ops_eyJ)[A-Za-z0-9+/]{100,}={0,3}"),
    certain(r"<(dckr_[po]at_)[A-Za-z0-9_-]{20,}"),
    // Slack, Discord, Teams, Telegram, Twitch, Zapier.
    certain(r"<(xox[abceoprs]-|xoxe\.xox[bp]-|xapp-)[A-Za-z0-9-]{10,}"),
    certain(r"(hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/)[A-Za-z0-9+/_-]{20,}"),
    certain(r"(discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/)[A-Za-z0-9_-]{30,}"),
    certain(r"(webhook\.office\.com/webhookb2/)[A-Za-z0-9@/_-]{40,}"),
    certain(r"(hooks\.zapier\.com/hooks/catch/|\.tines\.com/webhook/)[A-Za-z0-9/]{10,}"),
    certain(
        r"<()[A-Za-z0-9]{64}_[A-Za-z0-9]{4}_[A-Za-z0-9]{8}(?:-[A-Za-z0-9]{4}){3}-[A-Za-z0-9]{12}\b",
    ),
    certain(r"<()[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    certain(r"<(\d{8,10}:)AA[A-Za-z0-9_-]{32,}"),
    // Stripe and Clerk, Paystack, Recharge, Square, Plaid, Flutterwave, EasyPost, Shippo, Duffel, Lob, GoCardless, Ramp.
    certain(
        r"<([rs]k_(?:live|test|prod)_|whsec_|ak_live_|flb_live_|rzp_(?:live|test)_)[A-Za-z0-9]{10,}",
    ),
    certain(r"<(sk_[a-z]+_)[A-Za-z0-9]{40}\b"),
    certain(r"<(sk_(?:test_)?\d+x\d_)[0-9a-fA-F]{64}\b"),
    certain(r"<((?:pi|seti)_[A-Za-z0-9]{24}_secret_)[A-Za-z0-9]{20,}"),
    certain(r"<((?:sandbox-)?sq0[a-z]{3}-)[A-Za-z0-9_-]{20,}"),
    certain(r"<(EAAA|EAA[MC])[A-Za-z0-9_-]{56,}"),
    certain(
        r"<(access-(?:sandbox|development|production)-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    certain(r"<(FLW(?:SEC|PUB)K(?:_TEST)?-)[A-Za-z0-9]{12,}"),
    certain(r"<(EZ[AT]K)[A-Za-z0-9]{54}\b"),
    certain(
        r"<(shippo_(?:live|test)_|duffel_(?:live|test)_|bb_live_|bb_(?:pr|ma)_|ramp_(?:id|sec)_|shltm_|salad_cloud_[A-Za-z0-9]{1,7}_)[A-Za-z0-9_=-]{7,}",
    ),
    certain(r"<((?:live|test)_(?:pub_)?)[0-9a-f]{31,35}\b"),
    likely(r"<(live_)[A-Za-z0-9_-]{40}\b"),
    // Shopify, Linear, Notion, Figma, Airtable, Asana, Postman, ReadMe, Typeform, Contentful, Frame.io, Adobe, Dropbox, Mapbox.
    certain(r"<(shp(?:at|ca|pa|ss|tka)_)[A-Fa-f0-9]{32}"),
    certain(r"<(lin_(?:api|oauth)_)[A-Za-z0-9]{32,}"),
    certain(r"<(ntn_)[A-Za-z0-9]{40,}"),
    likely(r"<(secret_)[A-Za-z0-9]{43}\b"),
    certain(r"<(fig[dou]r?_)[A-Za-z0-9_-]{36,}"),
    certain(r"<(pat[A-Za-z0-9]{14}\.)[0-9a-f]{64}"),
    certain(r"<([A-Za-z0-9]{6,}\.v1\.)[A-Za-z0-9_-]{6,}\.[0-9a-f]{32,}"),
    certain(r"<(PMAK-)[A-Za-z0-9-]{59}"),
    certain(r"<(rdme_|tfp_|CFPAT-|fio-u-|p8e-)[A-Za-z0-9_=-]{32,}"),
    likely(
        r"<(pat-(?:na|eu)\d-|rh-api-|sdk-|api-|(?:pub|sub|sec)-c-)[0-9A-Za-z]{8}(?:-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}\b",
    ),
    certain(r"<(3MVG9|5AEP861)[A-Za-z0-9._+/=]{80,}"),
    certain(r"<(00[A-Za-z0-9]{13}!)[A-Za-z0-9_.]{80,}"),
    certain(r"<(1000\.)[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    certain(r"<()[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}\b"),
    certain(r"<(\d{15,16}(?:\||%(?:7C)?))[0-9A-Za-z_-]{27,40}\b"),
    certain(r"<()[0-9a-f]{32}-us\d{1,2}\b"),
    certain(r"<(pk_(?:[A-Za-z0-9]{6}_)?)[0-9a-f]{34}\b"),
    certain(r"<(VF\.(?:(?:DM|WS)\.)?[0-9a-fA-F]{24}\.)[A-Za-z0-9]{16}\b"),
    likely(r"<(api_)[A-Za-z0-9.]{45}\b"),
    certain(r"<(sl\.(?:u\.)?)[A-Za-z0-9_-]{100,}"),
    certain(r"<([ps]k\.eyJ)[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    likely(r"<(pk\.)[0-9A-Za-z]{32}\b"),
    // npm, PyPI, RubyGems, NuGet, crates.io, Clojars, Artifactory.
    certain(r"<(npm_|pypi-|SG\.)[A-Za-z0-9_.-]{30,}"),
    certain(r"<(rubygems_)[0-9a-z]{32,}"),
    likely(r"<(oy2)[a-z0-9]{43}\b"),
    likely(r"<(cio)[A-Za-z0-9]{32}\b"),
    certain(r"<(CLOJARS_)[A-Za-z0-9]{60}\b"),
    certain(r"<(AKCp|cmVmd)[A-Za-z0-9]{59,69}\b"),
    // Mailgun, Twilio, Sentry, Grafana, Dynatrace, New Relic, Octopus, Infracost, Scalingo, SettleMint, MaxMind, Intra.
    certain(r"<(key-|SK|pubkey-)[0-9a-fA-F]{32}\b"),
    likely(r"<(key-)[0-9a-z]{32}\b"),
    certain(r"<()[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b"),
    certain(
        r"<(aio_|sq[aup]_|sqco_|rootly_|thog-(?:key|secret)-|BBFF-|NF-|endr\+)[A-Za-z0-9-]{16,}",
    ),
    likely(r"<(API_KEY|web_)[A-Z0-9a-z]{32}\b"),
    certain(r"<(na1\.)[A-Za-z0-9+/]{100}"),
    certain(r"<(sntry[su]_)[A-Za-z0-9+/=_]{40,}"),
    certain(r"<(gl(?:c|sa)_|eyJrIjoi)[A-Za-z0-9+/_]{32,}={0,3}"),
    certain(r"<(dt0[a-z]01\.[A-Za-z0-9]{24}\.)[A-Za-z0-9]{64}"),
    certain(r"<(NR(?:AK|JS|AA|II|BR|IQ)-)[A-Za-z0-9_-]{19,}"),
    certain(
        r"<()(?:(?:[0-9a-f]{32}|eu01xx[0-9a-f]{26})FFFFNRAL|(?:AA[0-9a-f]{40}|eu01xx[0-9a-f]{36})-NRMA)\b",
    ),
    likely(r"<(API-)[A-Z0-9]{25,}\b"),
    certain(r"<(ico-)[A-Za-z0-9]{32}\b"),
    certain(r"<(tk-us-)[A-Za-z0-9_-]{48}"),
    certain(r"<(sm_[aps]at_)[A-Za-z0-9]{16}"),
    certain(r"<()[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    certain(r"<(s-s4t2(?:ud|af)-)[0-9a-f]{64}"),
    // JSON Web Tokens.
    certain(
        r"<(ey[A-Z0]|ew[o0])[A-Za-z0-9_-]{8,}={0,2}\.(?:ey|ew)[A-Za-z0-9_-]{4,}={0,2}(?:\.[A-Za-z0-9_-]*)?",
    ),
    certain(r"<(ZXlK)[A-Za-z0-9+/_-]{40,}={0,2}"),
    // Secrets of Kubernetes, whose values are no more than encoded.
    certain(
        r"(\bkind: *[\x22']?Secret\b[\x22']?(?:(?:\n|\\n)[^\n\\]*){0,20}?(?:\n|\\n)(?:stringData|data):)(?:(?:\n|\\n)[ \t]+[^\n\\]+)+",
    ),
    certain(r"((?:^|\n|\\n)data:)(?:(?:\n|\\n)[ \t]+[^\n\\]+)+(?:\n|\\n)kind: *Secret\b"),
    // What is sent in a header.
    likely(r"(?i)\b((?:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]{16,}"),
    likely(
        r#"(?i)\b(authorization["']?\s*[:=]\s*["']?(?:(?:token|apikey|key|bot|ssws)[ =]+)?)[A-Za-z0-9._~+/=-]{12,}"#,
    ),
    // What settings of Docker, npm, Bundler, NuGet and of databases give.
    likely(r"(\x22auth\\?\x22\s*:\s*\\?\x22)[A-Za-z0-9+/]{10,}={0,2}"),
    likely(r"(?m)((?:^|[:/\s])_auth\s*=\s*)[A-Za-z0-9+/]{10,}={0,2}"),
    certain(
        r"(BUNDLE_[A-Z0-9_]+__[A-Z0-9_]+[\x22']?\s*[=:]\s*[\x22']?)[^\s\x22':]+:[^\s\x22'\\]{4,}",
    ),
    certain(
        r"(?i)(<add key=\\?[\x22'](?:ClearText)?Password\\?[\x22']\s*value=\\?[\x22'])[^\x22'\\]{4,}",
    ),
    certain(r"(?i)(;(?:pwd|secret)=)[^;\s\x22'\\/.$({\[<][^;\s\x22'\\]{3,}"),
    // Passwords in addresses, and those that a command takes.
    certain(r"([a-z][a-z0-9+.-]*://[^/\s:@\\\x22'`<>]*:)[^/\s@\\\x22'`<>]{3,}@"),
    certain(r#"\b(curl\b[^\n|;]*?\s(?:-u|--user)[ =]?["']?[^\s:"'\\]+:)[^\s"'\\$]{3,}"#),
    certain(r#"\b(sshpass\s+-p\s*["']?)[^\s"'\\$]{3,}"#),
    certain(r#"\b(mysql(?:dump|admin)?\b[^\n|;]*?\s-p)[^\s"'\\$-][^\s"'\\]{3,}"#),
    certain(r"\b(machine\s+\S+\s+login\s+\S+\s+password\s+)[^\s\x22\\]{3,}"),
    likely(
        r#"(?i)(--(?:[a-z]+-)*(?:password|passwd|token|secret|api-?key)[ \t]+["']?)[^\s"'\\$<\[(-][^\s"'\\]{5,}"#,
    ),
    // What is given to a name that says so.
    assigned(
        r#"(?i)((?:passw(?:or)?d|passphrase|_pass|_pwd|secret|token|(?:api|access|private|secret|auth|encryption|signing|account|client|license)[_-]?key|credentials?|_key)["'\\]{0,4}\s{0,4}(?::=|=>|=|:)\s{0,4}["'\\]{0,4})[^\s"'`\\,;&|<>]{4,}"#,
    ),
    // What the viewer, or the agent, cut off in the middle.
    certain(
        r"<(sk-|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|xox[abceoprs]-|AIza|eyJ|hvs\.|dop_v1_|shpat_|npm_)[A-Za-z0-9_.-]*(?:…|\.\.\.)\s*\z",
    ),
];
