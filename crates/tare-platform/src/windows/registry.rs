//! Values of the registry's HKEY_LOCAL_MACHINE; one that is missing or of another type is `None`.

use windows_sys::Win32::Foundation::ERROR_SUCCESS;
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, REG_ROUTINE_FLAGS, RRF_RT_REG_BINARY, RRF_RT_REG_DWORD, RRF_RT_REG_SZ,
    RegGetValueW,
};

/// Longest value that is read, bytes; all that are asked for are far shorter.
const LONGEST: usize = 4096;

/// A text; an empty one is unknown.
pub(super) fn text(key: &str, name: &str) -> Option<String> {
    let bytes = value(key, name, RRF_RT_REG_SZ)?;
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    let text = String::from_utf16_lossy(&units).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// A number of 32 bits.
pub(super) fn number(key: &str, name: &str) -> Option<u32> {
    Some(u32::from_le_bytes(value(key, name, RRF_RT_REG_DWORD)?.try_into().ok()?))
}

/// Bytes.
pub(super) fn binary(key: &str, name: &str) -> Option<Vec<u8>> {
    value(key, name, RRF_RT_REG_BINARY)
}

fn value(key: &str, name: &str, kind: REG_ROUTINE_FLAGS) -> Option<Vec<u8>> {
    let (key, name) = (wide(key), wide(name));
    let mut bytes = vec![0_u8; LONGEST];
    let mut size = u32::try_from(bytes.len()).ok()?;
    // SAFETY: both names end with NUL; the buffer is as long as said, and the call says how much of
    // it was written.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            kind,
            std::ptr::null_mut(),
            bytes.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    bytes.truncate(size as usize);
    (status == ERROR_SUCCESS).then_some(bytes)
}

/// UTF-16 with a NUL at its end.
pub(super) fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}
