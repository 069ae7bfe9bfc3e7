import { expect, test } from 'vitest'
import { aName, created, sharedApi } from './api.ts'
import { authorityPem } from './certificate-request.ts'

const server = sharedApi({ controllers: [] })
const path = '/apis/certificates.orch.io/v1/clustertrustbundles'

const aBundle = (trustBundle: string, signerName?: string) => ({
  metadata: { name: aName('bundle') },
  spec: { trustBundle, ...(signerName === undefined ? {} : { signerName }) },
})

async function problemsOf(bundle: ReturnType<typeof aBundle>): Promise<readonly string[]> {
  const { status, body } = await server.api.post(path, bundle)
  expect(status).toBe(422)
  const { causes = [] } = body['details'] as { causes?: { field: string; message: string }[] }
  return causes.map(({ field, message }) => `${field}: ${message}`)
}

const withHeader = authorityPem.replace('\n', '\nProc-Type: 4,ENCRYPTED\n\n')

test('TODAY-CTB-01: text between the PEM blocks of a bundle is kept', async () => {
  const trustBundle = `before\n${authorityPem}after\n`
  expect((await created(server.api, path, aBundle(trustBundle)))['spec']).toEqual({ trustBundle })
})

test.each([
  ['a block with headers', withHeader, ['entry 0 has PEM block headers']],
  ['a second block that is no certificate', `${authorityPem}-----BEGIN X-----\n-----END X-----\n`, ['entry 1 has bad block type: X']],
  ['the same block three times', authorityPem.repeat(3), ['duplicate trust anchor (indices [0 1 2])']],
  ['a block that does not end', authorityPem.replace(/-----END.*/, ''), ['at least one trust anchor must be provided']],
])('TODAY-CTB-01: %s is refused', async (_, trustBundle, problems) => {
  const at = 'spec.trustBundle: Invalid value: "<value omitted>": '
  expect(await problemsOf(aBundle(trustBundle))).toEqual(problems.map((problem) => `${at}${problem}`))
})

test('TODAY-CTB-01: a bundle of more than one MiB is refused without being parsed', async () => {
  const trustBundle = 'x'.repeat(1024 * 1024 + 1)
  expect(await problemsOf(aBundle(trustBundle))).toEqual(['spec.trustBundle: Too long: may not be more than 1048576 bytes'])
})

test('TODAY-CTB-01: the name and the signer are validated before the certificates', async () => {
  const fields = (await problemsOf(aBundle('x', 'bad'))).map((problem) => problem.split(': ')[0])
  expect(fields).toEqual(['metadata.name', 'spec.signerName', 'spec.trustBundle'])
})

test('TODAY-CTB-01: for a bundle without a valid block the first hundred problems are reported', async () => {
  const block = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'
  const problems = await problemsOf(aBundle(block.repeat(15_000)))
  expect(problems).toHaveLength(100)
  expect(problems[99]).toBe('spec.trustBundle: Invalid value: "<value omitted>": entry 99 does not parse as X.509')
})
