/**
 * Ends the process with code 1 and skips the clean-up at exit. It is for a process with corrupt memory, in which clean-up could crash
 * and give another exit code. The process is replaced by a program that only exits.
 */
export function endAtOnce(): never {
  // `execve` does not exist on Windows and in threads.
  process.execve?.(process.execPath, [process.execPath, '--eval', 'process.exit(1)'], {})
  process.exit(1)
}
