import type { WarningRule } from '../../kind/define-resource.ts'
import { isWholeQuantity, parseQuantity } from '../../meta/quantity.ts'
import { subdomainLabel } from '../../names.ts'
import { partOf } from '../../validation/part.ts'
import { isGiven } from '../validation/checks.ts'

/** The first level that warns of claims. */
const claimsWarnedSince = 30

/** The warnings of a PersistentVolumeClaim: the annotation of old, and parts of a byte. */
export const warningsOfClaim: WarningRule = (claim, _live, names, level) => {
  if (level < claimsWarnedSince) return []
  const annotation = subdomainLabel(names, 'volume.beta', 'storage-class')
  const ofAnnotation = isGiven(partOf(partOf(claim, 'metadata'), 'annotations'), annotation)
    ? [`metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`]
    : []
  const resources = partOf(partOf(claim, 'spec'), 'resources')
  const ofAmounts = ['requests', 'limits'].flatMap((name) => {
    const amount = partOf(resources, name)['storage']
    const quantity = parseQuantity(String(amount))
    if (quantity === undefined || isWholeQuantity(quantity)) return []
    return [`spec.resources.${name}[storage]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
  })
  return [...ofAnnotation, ...ofAmounts]
}
