import { ref } from '../../../description/values.ts'
import { checkLabel, checkSubdomain, type FieldError } from '../../../meta/index.ts'
import { domainLabel } from '../../../names.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { checkGiven, isGiven, requireChecked } from '../checks.ts'
import { claimsIn, type PodContext } from './pod-context.ts'

/** Validates the claims of a Pod. Containers may use claims that have names. */
export function validateResourceClaims(errors: FieldError[], spec: Part, at: string, context: PodContext): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [index, claim] of itemsOf(spec, 'resourceClaims').entries()) {
    const [name, path] = [textOf(claim, 'name'), `${at}.resourceClaims[${index}]`]
    if (isMirror(context)) errors.push(forbiddenValue('', 'static pods do not support resource claims'))
    else {
      if (names.has(name)) errors.push(duplicateValue(`${path}.name`, name))
      else requireChecked(errors, { part: claim, name: 'name', at: path }, checkLabel)
      validateClaimSource(errors, claim, path, context)
    }
    if (name !== '') names.add(name)
  }
  return names
}

/** True for a mirror Pod, which represents a static Pod of a node. */
function isMirror({ object, names, podName }: PodContext): boolean {
  return podName !== '' && isGiven(partOf(partOf(object, 'metadata'), 'annotations'), domainLabel(names, 'config.mirror'))
}

/** The last level with a separate `source` struct for the names of a claim and a template. */
const sourceUntil = 30

function validateClaimSource(errors: FieldError[], claim: Part, path: string, { level }: PodContext): void {
  const isNested = level <= sourceUntil
  const [source, at] = isNested ? [partOf(claim, 'source'), `${path}.source`] : [claim, path]
  const [name, template] = ['resourceClaimName', 'resourceClaimTemplateName'].map((field) => isGiven(source, field))
  const shown = goValue(ref(isNested ? 'core/v1.ClaimSource' : 'core/v1.PodResourceClaim'), source)
  if (name && template) {
    errors.push(invalidValue(at, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'))
  }
  if (!name && !template) errors.push(invalidValue(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'))
  checkGiven(errors, { part: source, name: 'resourceClaimName', at }, checkSubdomain)
  checkGiven(errors, { part: source, name: 'resourceClaimTemplateName', at }, checkSubdomain)
}

/** Validates the claims that a container uses: each claim, or each request of a claim, at most once. */
export function validateUsedClaims(errors: FieldError[], resources: Part, at: string, context: RuleContext): void {
  const claims = claimsIn(context)
  const others = claims.size === 0 ? ' which is empty' : `: ${[...claims].sort().join(', ')}`
  const used = new Set<string>()
  /** Names of claims of which requests are used. */
  const partly = new Set<string>()
  for (const [index, claim] of itemsOf(resources, 'claims').entries()) {
    const [name, request, path] = [textOf(claim, 'name'), textOf(claim, 'request'), `${at}.claims[${index}]`]
    if (name === '') {
      errors.push(requiredValue(path))
      continue
    }
    const key = request === '' ? name : `${name}/${request}`
    if (request !== '' && !used.has(name)) errors.push(...invalidFor(`${path}.request`, request, checkLabel(request)))
    if (used.has(name)) errors.push(duplicateValue(path, name))
    else if (used.has(key)) errors.push(duplicateValue(path, key))
    else if (request === '' && partly.has(name)) errors.push(duplicateValue(path, name))
    else if (request !== '') partly.add(name)
    used.add(used.has(name) ? name : key)
    if (claims.has(name)) continue
    const message = `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${others}`
    errors.push({ reason: 'FieldValueNotFound', field: path, message })
  }
}
