import { needed } from '../../../description/fields.ts'
import { string } from '../../../description/texts.ts'
import type { FieldError } from '../../../meta/status.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { as, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { isGiven, numberOf, onceForShared, requireText } from '../checks.ts'
import { fieldRefRule, resourceRefRule } from './container-env.ts'
import { pathIn, validateFilePath } from './paths.ts'
import { certificatePaths, validateBundle, validateCertificate } from './projected-certificates.ts'

const projections = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate']
const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32
const name = as('name', needed(string()))

/** Files from a Secret, a ConfigMap, the Pod itself, or several of these sources, which must have different paths. */
export const fileRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.SecretVolumeSource': ['secretName', 'defaultMode', 'defaultUser', 'items'],
  'core/v1.ConfigMapVolumeSource': [name, 'defaultMode', 'defaultUser', 'items'],
  'core/v1.DownwardAPIVolumeSource': ['defaultMode', 'defaultUser', { passedOver: ['items'] }, validateDownwardFiles],
  'core/v1.SecretProjection': [name, 'items'],
  'core/v1.ConfigMapProjection': [name, 'items'],
  'core/v1.DownwardAPIProjection': [{ passedOver: ['items'] }, validateDownwardFiles],
  'core/v1.KeyToPath': ['key', 'path', pathIn('path', validateFilePath), 'mode'],
  'core/v1.DownwardAPIVolumeFile': ['path', pathIn('path', validateFilePath), fieldRefRule('file'), validateReferences, 'mode'],
  'core/v1.ProjectedVolumeSource': ['defaultMode', 'defaultUser', { passedOver: ['sources'] }, onceForShared(validateSources)],
  'core/v1.VolumeProjection': projections,
  'core/v1.ServiceAccountTokenProjection': [validateToken],
  'core/v1.ClusterTrustBundleProjection': ['user', { passedOver: ['labelSelector'] }, validateBundle],
  'core/v1.PodCertificateProjection': ['user', validateCertificate],
}

/** Like kube-apiserver, reports the volume and not the file. */
function validateDownwardFiles(errors: FieldError[], source: Part, at: string, context: RuleContext): void {
  const validate = context.rules.of('core/v1.DownwardAPIVolumeFile')
  for (const file of itemsOf(source, 'items')) validate(errors, file, at, context)
}

const ofResource = resourceRefRule('file')

function validateReferences(errors: FieldError[], file: Part, at: string, context: RuleContext): void {
  const [isOfPod, isOfResource] = [isGiven(file, 'fieldRef'), isGiven(file, 'resourceFieldRef')]
  if (isOfPod && isOfResource) {
    errors.push(invalidValue(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (isOfResource) ofResource(errors, file, at, context)
  else if (!isOfPod) errors.push(requiredValue(at, 'one of fieldRef and resourceFieldRef is required'))
}

function refuseSecondSource(errors: FieldError[], source: Part, at: string): void {
  if (projections.filter((name) => isGiven(source, name)).length < 2) return
  errors.push(forbiddenValue(at, 'may not specify more than 1 volume type per source'))
}

function validateSources(errors: FieldError[], volume: Part, at: string, context: RuleContext): void {
  const validate = context.rules.of('core/v1.VolumeProjection')
  const paths = new Set<string>()
  for (const [index, source] of itemsOf(volume, 'sources').entries()) {
    const place = `${at}.sources[${index}]`
    validate(errors, source, place, context)
    const kind = projections.find((name) => isGiven(source, name)) ?? ''
    const projection = partOf(source, kind)
    for (const path of pathsOf(kind, projection)) {
      if (path === '') continue
      const shown = kind === 'secret' || kind === 'configMap' ? textOf(projection, 'name') : path
      if (paths.has(path)) errors.push(invalidValue(at, shown, 'conflicting duplicate paths'))
      paths.add(path)
    }
    refuseSecondSource(errors, source, place)
  }
}

/** The file paths of a source that must be unique. Like kube-apiserver, ignores the path of a token. */
function pathsOf(kind: string, projection: Part): readonly string[] {
  if (kind === 'podCertificate') return certificatePaths.map((name) => textOf(projection, name))
  if (kind === 'clusterTrustBundle') return [textOf(projection, 'path')]
  return itemsOf(projection, 'items').map((file) => textOf(file, 'path'))
}

/** Like kube-apiserver, reports a missing token path on the volume. */
function validateToken(errors: FieldError[], token: Part, at: string): void {
  const seconds = numberOf(token, 'expirationSeconds')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.expirationSeconds`, seconds, detail))
  if (seconds !== undefined && seconds < tokenSecondsMin) refuse('may not specify a duration less than 10 minutes')
  if (seconds !== undefined && seconds > tokenSecondsMax) refuse('may not specify a duration larger than 2^32 seconds')
  requireText(errors, { part: token, name: 'path', at: at.slice(0, at.lastIndexOf('.sources[')) })
}

/** Projected tokens require a service account. */
export function refuseTokensWithoutAccount(errors: FieldError[], volumes: readonly Part[], path: string): void {
  for (const [index, volume] of volumes.entries()) {
    for (const [position, source] of itemsOf(optionalPart(volume, 'projected'), 'sources').entries()) {
      if (!isGiven(source, 'serviceAccountToken')) continue
      const field = `${path}[${index}].projected.sources[${position}].serviceAccountToken`
      errors.push(forbiddenValue(field, 'must not be specified when serviceAccountName is not set'))
    }
  }
}
