import type { FieldError } from '../../meta/status.ts'
import { invalidValue, requiredValue } from '../../schema/required.ts'
import { validateDriverName } from './csi-node.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from './part.ts'

const metadataBytesMax = 262_144
const errorMessageBytesMax = 1024

/** The rules of a VolumeAttachment's spec: what is attached where never changes. */
export function validateVolumeAttachmentSpec(attachment: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(attachment, 'spec')
  const errors = [...validateDriverName(textOf(spec, 'attacher'), 'spec.attacher'), ...validateSource(partOf(spec, 'source'))]
  if (textOf(spec, 'nodeName') === '') errors.push(requiredValue('spec.nodeName'))
  if (live !== undefined && !isSame(spec, partOf(live, 'spec'))) errors.push(invalidValue('spec', spec, 'field is immutable'))
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
  const isInline = optionalPart(source, 'inlineVolumeSpec') !== undefined
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (typeof name !== 'string' && !isInline) return [requiredValue('spec.source', detail)]
  if (typeof name === 'string' && isInline) return [invalidValue('spec.source', source, detail)]
  return name === '' ? [requiredValue('spec.source.persistentVolumeName')] : []
}

function tooLong(field: string, bytesMax: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: must have at most ${bytesMax} bytes` }
}
