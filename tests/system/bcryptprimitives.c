/* Stands in for bcryptprimitives.dll, which Wine 8 lacks and every Rust program for Windows asks
   for: the seed of its hash maps. Random bytes come from advapi32, as they do in the real one. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    return SystemFunction036(data, (ULONG)length);
}
