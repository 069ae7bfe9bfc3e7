import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@orch/client'
import { aCertificate, anAuthority, type CertificateOptions, type Pair } from '@orch/platform/any-certificate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'
import { toServingTrust } from './clients.ts'

const root = await anAuthority('root')
const intermediate = await aCertificate({ issuer: root, commonName: 'intermediate', isAuthority: true })
const own = await anAuthority('own')

/** The authority that a client of 127.0.0.1 trusts with these certificates in the file, in this order. */
function trustOf(...chain: readonly Pair[]) {
  const [leaf] = chain
  const servingPair = { certificate: chain.map(({ certificate }) => certificate).join(''), key: leaf?.key ?? '' }
  const servingFiles = { certificateFile: 'a.crt', keyFile: 'a.key' }
  return toServingTrust({ serving: { servingPair, servingFiles }, ownAuthority: own.certificate, url: 'https://127.0.0.1:6443' })
}

describe('the trusted certificate for a serving certificate', () => {
  test('is the server’s own authority without given files', () => {
    const serving = { servingPair: undefined, servingFiles: undefined }
    const trust = toServingTrust({ serving, ownAuthority: own.certificate, url: 'https://127.0.0.1:6443' })
    expect(trust).toEqual({ authority: own.certificate, isWholeChain: true, serverName: undefined })
  })

  test.each([
    ['the authority behind it', [intermediate, root], root, true],
    ['the authority, in whatever order the file has it', [root, intermediate], root, true],
    ['the last of a chain without its authority', [intermediate], intermediate, false],
  ])('%s', async (_, others, expected, isWholeChain) => {
    const leaf = await aCertificate({ issuer: intermediate, commonName: 'leaf' })
    expect(trustOf(leaf, ...others)).toEqual({ authority: expected.certificate, isWholeChain, serverName: undefined })
  })

  test('is not an authority of the file that has not signed the certificate', async () => {
    const leaf = await aCertificate({ issuer: root, commonName: 'leaf' })
    expect(trustOf(leaf, await anAuthority('root'))).toMatchObject({ authority: leaf.certificate, isWholeChain: false })
  })

  test('is the server’s own authority if it has signed the certificate', async () => {
    const leaf = await aCertificate({ issuer: own, commonName: 'leaf' })
    expect(trustOf(leaf)).toMatchObject({ authority: own.certificate, isWholeChain: true })
  })

  test('is the certificate itself if it is self-signed', async () => {
    const leaf = await aCertificate({ commonName: 'leaf' })
    expect(trustOf(leaf)).toMatchObject({ authority: leaf.certificate, isWholeChain: true })
  })
})

describe('the server name for clients', () => {
  const named = async (options: CertificateOptions) => trustOf(await aCertificate({ issuer: root, commonName: 'leaf', ...options }), root)

  test.each([
    ['none where the certificate carries the address', {}, undefined],
    ['the first name', { dnsNames: ['api.example.com', 'b.example.com'] }, 'api.example.com'],
    ['a whole name before one with a wildcard', { dnsNames: ['*.example.com', 'b.example.com'] }, 'b.example.com'],
    ['one that a wildcard allows', { dnsNames: ['*.example.com'] }, 'orch.example.com'],
  ])('%s', async (_, options, serverName) => {
    expect(await named(options)).toMatchObject({ serverName })
  })

  test('is missing, and refused, for a certificate without names', async () => {
    await expect(named({ hasNames: false })).rejects.toThrow('--tls-cert-file=a.crt: the certificate has no subjectAltName')
  })
})

describe('FLAG-05: the client configuration of a server with a given certificate', () => {
  /** A server that serves with these certificates. */
  async function aServer(...chain: readonly Pair[]) {
    const folder = mkdtempSync(join(tmpdir(), 'serving-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const at = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const certificateFlag = `--tls-cert-file=${at('a.crt', chain.map(({ certificate }) => certificate).join(''))}`
    const keyFlag = `--tls-private-key-file=${at('a.key', chain[0]?.key ?? '')}`
    const server = await start({ flags: [certificateFlag, keyFlag], controllers: ['*'] })
    onTestFinished(() => server.stop())
    return server
  }

  test.each([
    ['with its authority', { dnsNames: ['api.example.com'] }, [root]],
    ['alone', { dnsNames: ['api.example.com'] }, []],
    ['alone, for the address', {}, []],
  ] as const)('is accepted: %s', async (_, options, others) => {
    const leaf = await aCertificate({ issuer: root, commonName: 'leaf', use: 'server', ...options })
    const { client, kubeconfig } = await aServer(leaf, ...others)
    expect(await client.request({ method: 'GET', path: '/version' })).toMatchObject({ major: '1' })
    const expected = others[0] ?? leaf
    expect(await parseConfiguration(kubeconfig)).toMatchObject({ certificateAuthority: expected.certificate })
    const maps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const isPublished = () => maps.list({ fieldSelector: 'metadata.name=orch-root-ca.crt' })
    await expect.poll(async () => (await isPublished()).items.length).toBeGreaterThan(0)
    expect((await isPublished()).items[0]).toMatchObject({ data: { 'ca.crt': expected.certificate } })
  })
})
