//! A system call filter for the thread that reads a database. SQLite can open no file there
//! (`vfs`); should it find a way, the kernel refuses.
//!
//! Invariant: the filtered thread can read files, and can neither create, write, change nor remove
//! one. Some systems have no such filter (macOS, the BSDs, some sandboxes).

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::MaskedEq;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter,
};

/// System calls that change files by name or by descriptor.
const CHANGES: &[i64] = &[
    libc::SYS_openat2,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_copy_file_range,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Older calls for the same, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD_CHANGES: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CHANGES: &[i64] = &[];

/// Calls that open files, and the argument that holds their flags.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2)];

/// Filters this thread for as long as it lives. Returns whether the kernel can.
pub(crate) fn bind_this_thread() -> bool {
    program().is_some_and(|program| apply_filter(&program).is_ok())
}

fn program() -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CHANGES
        .iter()
        .chain(OLD_CHANGES)
        .map(|call| (*call, Vec::new()))
        .collect();
    for (call, flags) in OPENS {
        rules.insert(*call, opens_to_write(*flags)?);
    }
    let refuse = SeccompAction::Errno(u32::try_from(libc::EACCES).ok()?);
    let machine = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine).ok()?;
    BpfProgram::try_from(filter).ok()
}

/// Rules that match every flag of an open call that a reader does not use.
fn opens_to_write(flags: u8) -> Option<Vec<SeccompRule>> {
    let wishes = [
        (libc::O_ACCMODE, libc::O_WRONLY),
        (libc::O_ACCMODE, libc::O_RDWR),
        (libc::O_CREAT, libc::O_CREAT),
        (libc::O_TRUNC, libc::O_TRUNC),
    ];
    let rule = |(mask, wish)| {
        let (mask, wish) = (u64::try_from(mask).ok()?, u64::try_from(wish).ok()?);
        let condition = SeccompCondition::new(flags, Dword, MaskedEq(mask), wish).ok()?;
        SeccompRule::new(vec![condition]).ok()
    };
    wishes.into_iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::bind_this_thread;

    #[test]
    fn a_bound_thread_reads_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::write(&path, "words").unwrap();
        let held = OpenOptions::new().write(true).open(&path).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if !bind_this_thread() {
                    println!("skipped: the kernel binds no threads here");
                    return;
                }
                assert_eq!(fs::read(&path).unwrap(), b"words");
                assert!(File::create(&other).is_err() && File::create(&path).is_err());
                assert!(OpenOptions::new().append(true).open(&path).is_err());
                assert!(
                    OpenOptions::new()
                        .read(true)
                        .write(true)
                        .open(&path)
                        .is_err()
                );
                assert!(fs::rename(&path, &other).is_err() && fs::remove_file(&path).is_err());
                assert!(fs::hard_link(&path, &other).is_err() && fs::create_dir(&other).is_err());
                assert!(held.set_len(0).is_err() && chown(&path, Some(0), None).is_err());
                assert!(fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).is_err());
                assert!(held.set_modified(std::time::UNIX_EPOCH).is_err());
            });
        });
        // Nobody else is bound.
        fs::write(&path, "other words").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
