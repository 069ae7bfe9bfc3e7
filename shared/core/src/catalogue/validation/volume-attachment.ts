import { ref } from '../../description/define.ts'
import type { RuleRequest } from '../../kind/define-resource.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkSubdomain } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { bytesOf } from '../../validation/texts.ts'
import { validateDriverName } from './csi-node.ts'
import { validateInlineVolume } from './persistent-volume.ts'

/** Before this level two rules of kube-apiserver require an attacher. */
const attacherCheckedOnceSince = 37
const metadataBytesMax = 262_144
const errorMessageBytesMax = 1024

/** The rules of a VolumeAttachment's spec: what is attached where never changes. */
export function validateVolumeAttachmentSpec(
  attachment: Part,
  live: Part | undefined,
  _names: Names,
  { level }: Pick<RuleRequest, 'level'>,
): FieldError[] {
  const spec = partOf(attachment, 'spec')
  const attacher = textOf(spec, 'attacher')
  const nodeName = textOf(spec, 'nodeName')
  const errors = attacher === '' && level < attacherCheckedOnceSince ? [requiredValue('spec.attacher')] : []
  errors.push(...validateSource(partOf(spec, 'source')), ...invalidFor('spec.nodeName', nodeName, checkSubdomain(nodeName)))
  if (live === undefined)
    errors.push(...validateDriverName(attacher, 'spec.attacher', level), ...validateVolumeName(partOf(spec, 'source')))
  if (live !== undefined && !isSame(spec, partOf(live, 'spec')))
    errors.push(invalidValue('spec', goValue(ref('storage/v1.VolumeAttachmentSpec'), spec), 'field is immutable'))
  return errors
}

/** The rules of a VolumeAttachment's status. */
export function validateVolumeAttachmentStatus(attachment: Part): FieldError[] {
  const status = partOf(attachment, 'status')
  const size = Object.entries(partOf(status, 'attachmentMetadata')).reduce(
    (sum, [key, value]) => sum + bytesOf(key) + bytesOf(String(value)),
    0,
  )
  const errors: FieldError[] = []
  if (size > metadataBytesMax) errors.push(tooLongValue('status.attachmentMetadata', metadataBytesMax))
  for (const name of ['attachError', 'detachError']) {
    const message = textOf(optionalPart(status, name), 'message')
    if (bytesOf(message) > errorMessageBytesMax) errors.push(tooLongValue(`status.${name}.message`, errorMessageBytesMax))
  }
  return errors
}

function validateSource(source: Part): FieldError[] {
  const name = source['persistentVolumeName']
  const inline = optionalPart(source, 'inlineVolumeSpec')
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (typeof name !== 'string' && inline === undefined) return [requiredValue('spec.source', detail)]
  if (typeof name === 'string' && inline !== undefined) return [forbiddenValue('spec.source', detail)]
  if (inline !== undefined) return validateInlineVolume(inline, 'spec.source.inlineVolumeSpec')
  return name === '' ? [requiredValue(volumeNameField, 'must specify non empty persistentVolumeName')] : []
}

const volumeNameField = 'spec.source.persistentVolumeName'

function validateVolumeName({ persistentVolumeName: name }: Part): FieldError[] {
  return typeof name === 'string' ? invalidFor(volumeNameField, name, checkSubdomain(name)) : []
}
