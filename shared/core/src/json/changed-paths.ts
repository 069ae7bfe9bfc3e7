import { isJsonObject } from './member.ts'

/** Bounds of a comparison. */
export interface ChangedPathsOptions {
  /** Paths that are ignored, including everything below them. */
  readonly except: ReadonlySet<string>
  /** Maximum number of paths. */
  readonly max: number
}

/** Members deeper than this are compared as a whole. */
const depthMax = 64

/** A name that can follow a dot in a path; others are in brackets. */
const plainName = /^[A-Za-z_][\w-]*$/

/**
 * The paths of the innermost members that differ between two JSON values, in the order of the members:
 *
 *   {spec: {size: 1, ports: [80]}}, {spec: {size: 2, ports: [80, 81]}}   →   spec.size  spec.ports[1]
 *   metadata.annotations with the key example.com/a   →   metadata.annotations[example.com/a]
 */
export function changedPaths(before: unknown, after: unknown, { except, max }: ChangedPathsOptions): string[] {
  const found: string[] = []
  const compare = (a: unknown, b: unknown, path: string, depth: number): void => {
    if (found.length >= max || a === b || except.has(path)) return
    if (depth < depthMax && isJsonObject(a) && isJsonObject(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) compare(a[name], b[name], pathOf(path, name), depth + 1)
      return
    }
    if (depth < depthMax && Array.isArray(a) && Array.isArray(b)) {
      for (let index = 0; index < Math.max(a.length, b.length) && found.length < max; index++)
        compare(a[index], b[index], `${path}[${index}]`, depth + 1)
      return
    }
    if (depth < depthMax || JSON.stringify(a) !== JSON.stringify(b)) found.push(path)
  }
  compare(before, after, '', 0)
  return found
}

function pathOf(path: string, name: string): string {
  if (!plainName.test(name)) return `${path}[${name}]`
  return path === '' ? name : `${path}.${name}`
}
