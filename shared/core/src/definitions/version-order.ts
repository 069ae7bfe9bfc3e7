import { compareTexts } from '../json/member.ts'
/**
 * Compares version names. The most stable sort first: v2, v1, v1beta2, v1beta1, v1alpha1, then all other names by text.
 * A negative result means that `left` sorts first.
 */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)]
  if (a === undefined || b === undefined) return a === b ? compareTexts(left, right) : a === undefined ? 1 : -1
  return b.stage - a.stage || b.major - a.major || b.minor - a.minor
}

const stages = ['alpha', 'beta']

function parse(name: string): { readonly stage: number; readonly major: number; readonly minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name)
  if (match === null) return undefined
  const [, major, stage, minor] = match
  return { stage: stage === undefined ? stages.length : stages.indexOf(stage), major: Number(major), minor: Number(minor ?? 0) }
}
