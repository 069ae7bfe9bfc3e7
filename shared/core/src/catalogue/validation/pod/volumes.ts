import type { FieldError } from '../../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../../meta/validate-names.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf, textsOf } from '../../../validation/part.ts'
import { requireChecked } from '../checks.ts'
import type { Volumes } from './container-mounts.ts'
import { volumeSourceRules } from './volume-sources.ts'

/** The volumes of a Pod. Only the sound ones can be mounted. The Pod's name tells which claims are made for it. */
export function validateVolumes(errors: FieldError[], volumes: readonly Part[], path: string, podName: string): Volumes {
  const sound = new Map<string, Part>()
  const made = textsOf(
    volumes.filter((volume) => optionalPart(volume, 'ephemeral') !== undefined),
    'name',
  )
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(volume, 'name')
    const before = errors.length
    validateSource(errors, volume, at)
    if (podName !== '' && name !== '' && made.has(name)) errors.push(...validateMadeClaim(`${podName}-${name}`, name, at))
    requireChecked(errors, { part: volume, name: 'name', at }, checkLabel)
    if (sound.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    if (errors.length === before) sound.set(name, volume)
    if (podName !== '') refuseOwnClaim(errors, { volume, at }, { made, prefix: `${podName}-` })
  }
  return sound
}

function validateSource(errors: FieldError[], volume: Part, at: string): void {
  const given = Object.keys(volume).filter((name) => volumeSourceRules.has(name) && optionalPart(volume, name) !== undefined)
  const [first, ...others] = given.length > 1 ? inRuleOrder(given) : given
  if (first === undefined) errors.push(requiredValue(at, 'must specify a volume type'))
  else volumeSourceRules.get(first)?.(errors, partOf(volume, first), `${at}.${first}`)
  for (const name of others) errors.push(forbiddenValue(`${at}.${name}`, 'may not specify more than 1 volume type'))
}

function inRuleOrder(given: readonly string[]): string[] {
  return [...volumeSourceRules.keys()].filter((name) => given.includes(name))
}

/** The claim that is made for a volume is named after the Pod and the volume. */
function validateMadeClaim(claim: string, volume: string, at: string): FieldError[] {
  const problems = checkSubdomain(claim).map((problem) => `PVC name ${JSON.stringify(claim)}: ${problem}`)
  return invalidFor(`${at}.name`, volume, problems)
}

/** A claim that is made for a volume of this Pod cannot be named by another of its volumes. */
function refuseOwnClaim(
  errors: FieldError[],
  { volume, at }: { readonly volume: Part; readonly at: string },
  { made, prefix }: { readonly made: ReadonlySet<string>; readonly prefix: string },
): void {
  const claim = textOf(optionalPart(volume, 'persistentVolumeClaim'), 'claimName')
  if (!claim.startsWith(prefix) || !made.has(claim.slice(prefix.length))) return
  const detail = 'must not reference a PVC that gets created for an ephemeral volume'
  errors.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, detail))
}
