/** Releases of the API whose feature gates and group versions are known, by their minor number; `own` is the one that all types are of. */
export const knownReleases = { oldest: 23, own: 25, newest: 37 } as const

/** `1.27` for 27. */
export function printRelease(minor: number): string {
  return `1.${minor}`
}

/** 26 for `1.26`. */
export function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}
