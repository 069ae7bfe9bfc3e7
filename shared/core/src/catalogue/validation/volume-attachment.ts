import { checkSubdomain, type FieldError } from '../../meta/index.ts'
import { checkCaselessDriverName } from '../../validation/device-texts.ts'
import { forbiddenValue, invalidFor, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { bytesOf } from '../../validation/texts.ts'
import { validateDriverName } from './csi-node.ts'
import { validateInlineVolume } from './persistent-volume.ts'

const metadataBytesMax = 262_144

/** A VolumeAttachment: its volume, node and driver are immutable. */
export const attachmentRules: Readonly<Record<string, TypeRules>> = {
  'storage/v1.VolumeAttachmentSpec': ['attacher', { passedOver: ['source'] }, validateSource, 'nodeName', validateNew],
  'storage/v1.VolumeAttachmentStatus': [validateMetadata, 'attachError', 'detachError'],
}

/** Until 1.36, later rules were applied only to new objects. */
function validateNew(errors: FieldError[], spec: Part, _at: string, { live, level, declared }: RuleContext): void {
  if (live !== undefined && level < declaredSince) return
  const attacher = textOf(spec, 'attacher')
  if (live !== undefined || level < declaredSince) errors.push(...validateDriverName(attacher, 'spec.attacher', level))
  else declared.push(...validateDeclaredName(attacher, 'spec.attacher'))
  const name = partOf(spec, 'source')['persistentVolumeName']
  if (typeof name === 'string') errors.push(...invalidFor(volumeNameField, name, checkSubdomain(name)))
}

/** The first level at which the rules for the attacher are declarative. */
const declaredSince = 37
const attacherLengthMax = 63

function validateDeclaredName(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValue(field)]
  const errors = invalidFor(field, name, checkCaselessDriverName(name))
  return name.length > attacherLengthMax ? [...errors, tooLongValue(field, attacherLengthMax, declaredSince)] : errors
}

function validateMetadata(errors: FieldError[], status: Part, at: string): void {
  const entries = Object.entries(partOf(status, 'attachmentMetadata'))
  const size = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(String(value)), 0)
  if (size > metadataBytesMax) errors.push(tooLongValue(`${at}.attachmentMetadata`, metadataBytesMax))
}

function validateSource(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const source = partOf(spec, 'source')
  const name = source['persistentVolumeName']
  const inline = optionalPart(source, 'inlineVolumeSpec')
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (typeof name !== 'string' && inline === undefined) errors.push(requiredValue('spec.source', detail))
  else if (typeof name === 'string' && inline !== undefined) errors.push(forbiddenValue('spec.source', detail))
  else if (inline !== undefined) errors.push(...validateInlineVolume(inline, 'spec.source.inlineVolumeSpec', context))
  else if (name === '') errors.push(requiredValue(volumeNameField, 'must specify non empty persistentVolumeName'))
}

const volumeNameField = 'spec.source.persistentVolumeName'
