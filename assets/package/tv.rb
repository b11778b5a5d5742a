# A Homebrew formula. Written by the documentation, untried: fill in the address and the sum of a release.
class Tv < Formula
  desc "Terminal transcript viewer for AI-agent sessions"
  homepage "https://example.org/agent-tv"
  url "https://example.org/agent-tv/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "rust" => :build
  # television installs a program of the same name.
  conflicts_with "television", because: "both install `tv`"

  def install
    system "cargo", "install", *std_cargo_args, "--profile", "dist"
    generate_completions_from_executable(bin/"tv", "completions")
    (man1/"tv.1").write Utils.safe_popen_read(bin/"tv", "man")
  end

  test do
    (testpath/"s.jsonl").write <<~JSON
      {"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-31T10:41:07Z","message":{"role":"user","content":"hello"}}
    JSON
    assert_match "hello", shell_output("#{bin}/tv show #{testpath}/s.jsonl")
  end
end
