# For `nix-build -E 'with import <nixpkgs> {}; callPackage ./assets/package/tv.nix {}'`. Written by the documentation,
# untried.
{ lib, rustPlatform, installShellFiles }:

rustPlatform.buildRustPackage {
  pname = "agent-tv";
  version = "0.1.0";
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  buildType = "dist";
  nativeBuildInputs = [ installShellFiles ];
  # The tests want a terminal and minutes.
  doCheck = false;

  postInstall = ''
    $out/bin/tv man > tv.1
    installManPage tv.1
    installShellCompletion --cmd tv \
      --bash <($out/bin/tv completions bash) \
      --zsh <($out/bin/tv completions zsh) \
      --fish <($out/bin/tv completions fish)
  '';

  meta = {
    description = "Terminal transcript viewer for AI-agent sessions";
    license = lib.licenses.mit;
    mainProgram = "tv";
    platforms = lib.platforms.linux ++ lib.platforms.darwin;
  };
}
