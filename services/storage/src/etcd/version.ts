/**
 * Whether an etcd of this version tells its position reliably and loses no events of a watch when it forgets its past.
 * Those from 3.4.31 and 3.5.13 on do; a version that can't be read is taken for an old one.
 */
export function isReliableVersion(version: string): boolean {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (match === null) return false
  const [major = 0, minor = 0, patch = 0] = match.slice(1).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
