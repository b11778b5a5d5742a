//! Exported pages in a real browser: every anchor is there, nothing is requested, no script of a
//! transcript runs, and the page's own script does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::fixtures;

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let mut all = named.into_iter().chain(usual.map(PathBuf::from));
    all.find(|path| path.exists())
}

/// The page of a session, with `probe` as the first script in it, which the policy then has to allow.
fn page(home: &Path, session: &Path, probe: &str) -> Option<PathBuf> {
    let output = Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(["export", "--to", "html"])
        .arg(session)
        .env_clear()
        .env("HOME", home)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let html = String::from_utf8(output.stdout).unwrap();
    if html.is_empty() {
        return None;
    }
    let probed = html
        .replacen("script-src ", "script-src 'nonce-probe' ", 1)
        .replacen(
            "<title>",
            &format!("<script nonce=\"probe\">{probe}</script><title>"),
            1,
        );
    assert_ne!(html.len(), probed.len());
    let path = home.join("page.html");
    fs::write(&path, probed).unwrap();
    Some(path)
}

/// The document after its scripts have run.
fn dom(browser: &Path, home: &Path, page: &Path) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--virtual-time-budget=4000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            home.join("profile").display()
        ))
        .arg(format!("file://{}#anchor-of-nobody", page.display()))
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes what it finds into the title: errors, whether the bar covers the entry of a link, requests, broken
/// anchors, scripts, and what the page's own script made.
const PROBE: &str = r##"
const errors = [];
addEventListener('error', (event) => errors.push(event.message || event.target.tagName), true);
addEventListener('securitypolicyviolation', (event) => errors.push('policy ' + event.violatedDirective + ' ' + event.blockedURI));
window.alert = () => errors.push('alert');
addEventListener('load', () => setTimeout(() => {
  const dead = [...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.getElementById(decodeURIComponent(a.getAttribute('href').slice(1))));
  const odd = [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)));
  const foreign = [...document.querySelectorAll('script,iframe,object,embed,base,form,link')].length;
  const bar = document.querySelector('.filter'), box = bar.querySelector('input[type=search]');
  const linked = [...document.querySelectorAll('main article[id]')];
  const linkedTo = linked[linked.length >> 1];
  location.hash = encodeURIComponent(linkedTo.id);
  setTimeout(() => {
    // The bar stays at the top of the window.
    const covered = +(linkedTo.getBoundingClientRect().top < bar.getBoundingClientRect().bottom);
    box.value = 'zzzz-nowhere'; box.dispatchEvent(new Event('input'));
    setTimeout(() => {
      const left = [...document.querySelectorAll('main article')].filter((e) => !e.hidden).length;
      const asked = performance.getEntriesByType('resource').filter((e) => !e.name.startsWith('data:')).length;
      document.title = 'PROBE ' + JSON.stringify({ errors, covered, dead: dead.length, odd: odd.length, foreign, left, asked, entries: document.querySelectorAll('main article').length });
    }, 600);
  }, 200);
}, 50));
"##;

#[test]
fn pages_are_whole_and_inert_in_a_browser() {
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium here");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>[a](javascript:alert(4))![b](http://127.0.0.1:1/c.png)";
    let at = |n: u32| format!("2026-02-03T10:00:{n:02}Z");
    let line = |value: serde_json::Value| format!("{value}\n");
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let session = [
        line(json!({ "type": "user", "uuid": hostile, "parentUuid": null, "sessionId": "s", "cwd": hostile, "version": hostile, "timestamp": at(1),
            "message": { "role": "user", "content": [{ "type": "text", "text": hostile },
                { "type": "image", "source": { "type": "base64", "media_type": "image/svg+xml\" onload=\"alert(5)", "data": pixel } }] } })),
        line(json!({ "type": "assistant", "uuid": "b", "parentUuid": hostile, "sessionId": "s", "timestamp": at(2),
            "message": { "id": "m", "role": "assistant", "model": hostile, "usage": { "input_tokens": 1, "output_tokens": 1 },
                "content": [{ "type": "text", "text": hostile },
                    { "type": "tool_use", "id": "t", "name": hostile, "input": { "command": hostile, "file_path": hostile } }] } })),
        line(json!({ "type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "s", "timestamp": at(3),
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t",
                "content": format!("\u{1b}]8;;javascript:alert(6)\u{7}x\u{1b}]8;;\u{7}\u{1b}[31m{hostile}") }] } })),
    ]
    .concat();
    let path = home.path().join("hostile.jsonl");
    fs::write(&path, session).unwrap();
    let fixtures = ["claude-code/busy.jsonl", "codex", "openclaw/wakes.jsonl"]
        .map(|name| fixtures::root().join(name));
    let mut seen = 0;
    for session in [path].iter().chain(&fixtures) {
        let Some(page) = page(home.path(), session, PROBE) else {
            continue;
        };
        let dom = dom(&browser, home.path(), &page);
        let told = dom
            .split_once("<title>PROBE ")
            .map(|(_, rest)| rest.split("</title>").next().unwrap());
        let told = told
            .unwrap_or_else(|| panic!("{}: the page did not come to its end", session.display()));
        let told: serde_json::Value = serde_json::from_str(
            &told
                .replace("&amp;", "&")
                .replace("&lt;", "<")
                .replace("&gt;", ">"),
        )
        .unwrap();
        let name = session.display();
        for none in ["dead", "odd", "left", "asked", "covered"] {
            assert_eq!(told[none], 0, "{name}: {told}");
        }
        assert_eq!(told["errors"], json!([]), "{name}");
        // The probe, and the script of the page.
        assert_eq!(told["foreign"], 2, "{name}: {told}");
        assert!(told["entries"].as_u64().unwrap() > 0, "{name}");
        if session.ends_with("hostile.jsonl") {
            assert!(dom.contains("<img loading=\"lazy\" alt=\"\" src=\"data:image/png;base64,"));
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}
