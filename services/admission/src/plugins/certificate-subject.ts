import { DerError, type DerValue, derTags, derValues, expectDer } from '@orch/platform'

/** 2.5.4.10, encoded. */
const organization = '55040a'

/**
 * The organizations in the subject of a PKCS #10 request in PEM: the groups of the user of its certificate. The library
 * that makes certificates is not used here: it knows not all types of strings, so that a group could pass unseen.
 */
export function organizationsOf(pem: string): readonly string[] {
  const [, type, body = ''] = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem) ?? []
  if (type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST')
  const bytes = Buffer.from(body, 'base64')
  const [request] = derValues(bytes, { start: 0, end: bytes.length })
  const [information] = derValues(bytes, expectDer(request, derTags.sequence))
  const [version, subject] = derValues(bytes, expectDer(information, derTags.sequence))
  expectDer(version, derTags.integer)
  return derValues(bytes, expectDer(subject, derTags.sequence)).flatMap((names) => {
    return derValues(bytes, expectDer(names, derTags.set)).flatMap((attribute) =>
      organizationIn(bytes, expectDer(attribute, derTags.sequence)),
    )
  })
}

function organizationIn(bytes: Buffer, attribute: DerValue): readonly string[] {
  const [type, value] = derValues(bytes, attribute)
  const { start, end } = expectDer(type, derTags.objectIdentifier)
  if (bytes.toString('hex', start, end) !== organization) return []
  if (value === undefined) throw new DerError('the subject has an attribute without a value')
  const content = bytes.subarray(value.start, value.end)
  return [value.tag === derTags.bmpString ? new TextDecoder('utf-16be').decode(content) : content.toString()]
}
