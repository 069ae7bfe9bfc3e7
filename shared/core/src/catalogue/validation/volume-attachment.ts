import type { FieldError } from '../../meta/status.ts'
import { checkSubdomain } from '../../meta/validate-names.ts'
import { ref } from '../../schema/define.ts'
import { goValue } from '../../schema/go-value.ts'
import { validateDriverName } from './csi-node.ts'
import { invalidFor, invalidValue, requiredValue } from './field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from './part.ts'
import { validateInlineVolume } from './persistent-volume.ts'

const metadataBytesMax = 262_144
const errorMessageBytesMax = 1024

/** The rules of a VolumeAttachment's spec: what is attached where never changes. */
export function validateVolumeAttachmentSpec(attachment: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(attachment, 'spec')
  const attacher = textOf(spec, 'attacher')
  const nodeName = textOf(spec, 'nodeName')
  const errors = attacher === '' ? [requiredValue('spec.attacher')] : []
  errors.push(...validateSource(partOf(spec, 'source')), ...invalidFor('spec.nodeName', nodeName, checkSubdomain(nodeName)))
  if (live === undefined) errors.push(...validateDriverName(attacher, 'spec.attacher'))
  if (live !== undefined && !isSame(spec, partOf(live, 'spec')))
    errors.push(invalidValue('spec', goValue(ref('storage/v1.VolumeAttachmentSpec'), spec), 'field is immutable'))
  return errors
}

/** The rules of a VolumeAttachment's status. */
export function validateVolumeAttachmentStatus(attachment: Part): FieldError[] {
  const status = partOf(attachment, 'status')
  const size = Object.entries(partOf(status, 'attachmentMetadata')).reduce(
    (sum, [key, value]) => sum + key.length + String(value).length,
    0,
  )
  const errors: FieldError[] = []
  if (size > metadataBytesMax) errors.push(tooLong('status.attachmentMetadata', metadataBytesMax))
  for (const name of ['attachError', 'detachError']) {
    const message = textOf(optionalPart(status, name), 'message')
    if (message.length > errorMessageBytesMax) errors.push(tooLong(`status.${name}.message`, errorMessageBytesMax))
  }
  return errors
}

function validateSource(source: Part): FieldError[] {
  const name = source['persistentVolumeName']
  const inline = optionalPart(source, 'inlineVolumeSpec')
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (typeof name !== 'string' && inline === undefined) return [requiredValue('spec.source', detail)]
  if (typeof name === 'string' && inline !== undefined)
    return [invalidValue('spec.source', goValue(ref('storage/v1.VolumeAttachmentSource'), source), detail)]
  if (inline !== undefined) return validateInlineVolume(inline, 'spec.source.inlineVolumeSpec')
  return name === '' ? [requiredValue('spec.source.persistentVolumeName')] : []
}

function tooLong(field: string, bytesMax: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: must have at most ${bytesMax} bytes` }
}
