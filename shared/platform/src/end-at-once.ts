/**
 * Ends the process with code 1 without the clean-up that an exit runs: for a process whose memory is not sound any more, where
 * clean-up would crash and another code than 1 would be seen. The program in its place does nothing but end.
 */
export function endAtOnce(): never {
  // Not on Windows, and not in threads.
  process.execve?.(process.execPath, [process.execPath, '--eval', 'process.exit(1)'], {})
  process.exit(1)
}
