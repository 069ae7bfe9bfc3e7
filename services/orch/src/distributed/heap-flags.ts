/**
 * Flags of Node for a process that serves others. The old heap of such a process is small, and what its answers and messages hold
 * outside of the heap makes V8 collect it whole, several times a second: with room from the start that comes rarely. It costs memory
 * only where there is work.
 */
const heapFlags = ['--initial-old-space-size=200']

/** The flags of this process with those of a process that serves others, except for what was chosen by the caller. */
export function withHeapFlags(given: readonly string[]): string[] {
  const nameOf = (flag: string) => flag.split('=')[0]?.replaceAll('_', '-')
  const names = new Set(given.map(nameOf))
  return [...given, ...heapFlags.filter((flag) => !names.has(nameOf(flag)))]
}
