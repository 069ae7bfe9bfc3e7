import type { FieldError } from '../../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../../meta/validate-names.ts'
import { duplicateValue, invalidFor, invalidValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, textOf, textsOf } from '../../../validation/part.ts'
import { requireChecked } from '../checks.ts'
import type { PodContext, Volumes } from './pod-context.ts'

/** Validates the volumes of a Pod. Only valid volumes can be mounted. The names of generated claims depend on the Pod's name. */
export function validateVolumes(errors: FieldError[], volumes: readonly Part[], path: string, context: PodContext): Volumes {
  const { podName, rules } = context
  const validateSource = rules.of('core/v1.VolumeSource')
  const sound = new Map<string, Part>()
  const made = textsOf(
    volumes.filter((volume) => optionalPart(volume, 'ephemeral') !== undefined),
    'name',
  )
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(volume, 'name')
    const before = errors.length
    validateSource(errors, volume, at, context)
    if (podName !== '' && name !== '' && made.has(name)) errors.push(...validateMadeClaim(`${podName}-${name}`, name, at))
    requireChecked(errors, { part: volume, name: 'name', at }, checkLabel)
    if (sound.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    if (errors.length === before) sound.set(name, volume)
    if (podName !== '') refuseOwnClaim(errors, { volume, at }, { made, prefix: `${podName}-` })
  }
  return sound
}

/** A generated claim is named after its Pod and volume. */
function validateMadeClaim(claim: string, volume: string, at: string): FieldError[] {
  const problems = checkSubdomain(claim).map((problem) => `PVC name ${JSON.stringify(claim)}: ${problem}`)
  return invalidFor(`${at}.name`, volume, problems)
}

/** A generated claim of a Pod must not be named by another volume of that Pod. */
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
