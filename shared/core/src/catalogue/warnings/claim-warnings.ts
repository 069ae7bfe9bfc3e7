import type { WarningRule } from '../../kind/define-resource.ts'
import { isWholeQuantity, parseQuantity } from '../../meta/quantity.ts'
import { subdomainLabel } from '../../names.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { isGiven } from '../validation/checks.ts'

/** The first levels that warn about fractions of a byte in claims, and about an annotation that a field replaces. */
const amountsWarnedSince = 26
const annotationWarnedSince = 28

/** The warnings about a PersistentVolumeClaim: a deprecated annotation, and fractions of a byte. */
export const warningsOfClaim: WarningRule = (claim, _live, names, { level }) => {
  const annotation = subdomainLabel(names, 'volume.beta', 'storage-class')
  const isOld = level >= annotationWarnedSince && isGiven(partOf(partOf(claim, 'metadata'), 'annotations'), annotation)
  const ofAnnotation = isOld ? [`metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`] : []
  return [...ofAnnotation, ...warningsOfClaimSpec(partOf(claim, 'spec'), 'spec', level)]
}

/** The warnings about the spec of a claim or a claim template at a path. */
export function warningsOfClaimSpec(spec: Part, path: string, level: number): string[] {
  if (level < amountsWarnedSince) return []
  const resources = partOf(spec, 'resources')
  return ['requests', 'limits'].flatMap((name) => {
    const amount = textOf(partOf(resources, name), 'storage')
    const quantity = parseQuantity(amount)
    if (quantity === undefined || isWholeQuantity(quantity)) return []
    return [`${path}.resources.${name}[storage]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
  })
}
