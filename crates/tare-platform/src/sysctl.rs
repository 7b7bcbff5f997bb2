//! sysctlbyname(3) of macOS and FreeBSD: facts by name. A name that this release does not know is
//! `None`.

use std::ffi::CString;
use std::ptr;

/// The bytes behind a name.
pub(crate) fn bytes(name: &str) -> Option<Vec<u8>> {
    let name = CString::new(name).ok()?;
    let mut size: libc::size_t = 0;
    // SAFETY: with no buffer the call only writes the size; the name ends with NUL.
    let status = unsafe {
        libc::sysctlbyname(name.as_ptr(), ptr::null_mut(), &raw mut size, ptr::null_mut(), 0)
    };
    if status != 0 {
        return None;
    }
    // Room for what grows between the two calls.
    let mut buffer = vec![0_u8; size + size / 8];
    let mut size = buffer.len();
    // SAFETY: the buffer is as long as said; the call writes no more and says how much.
    let status = unsafe {
        let out = buffer.as_mut_ptr().cast();
        libc::sysctlbyname(name.as_ptr(), out, &raw mut size, ptr::null_mut(), 0)
    };
    buffer.truncate(size);
    (status == 0).then_some(buffer)
}

/// A text without its NUL and the blanks around it; an empty one is unknown.
pub(crate) fn text(name: &str) -> Option<String> {
    let bytes = bytes(name)?;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A whole number of 4 or 8 bytes: the same name has either, by release.
pub(crate) fn number(name: &str) -> Option<i64> {
    let bytes = bytes(name)?;
    match bytes.len() {
        4 => Some(i64::from(i32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(i64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// A count, which cannot be negative; a 4-byte one may use all its bits.
pub(crate) fn count(name: &str) -> Option<u64> {
    let bytes = bytes(name)?;
    match bytes.len() {
        4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
