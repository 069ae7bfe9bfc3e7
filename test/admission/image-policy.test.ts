import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { printConfiguration } from '@orch/client'
import { expect, onTestFinished, test } from 'vitest'
import { anApi, created, openApi } from '../api/api.ts'
import { aFolder } from '../audit/audited.ts'

const pods = '/api/v1/namespaces/default/pods'
const aPod = (name: string, image: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'a', image }] },
})

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: { readonly containers: readonly { readonly image: string }[] }
}

/** A server that allows only images of one registry; returns its address. */
async function aReviewer(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { kind, apiVersion, spec } = JSON.parse(Buffer.concat(chunks).toString()) as Review
    const allowed = spec.containers.every(({ image }) => image.startsWith('ours/'))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ kind, apiVersion, spec: {}, status: { allowed, reason: allowed ? '' : 'not ours' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/review`
}

function aConfiguration(url: string): string {
  const folder = aFolder()
  writeFileSync(join(folder, 'images'), printConfiguration({ cluster: 'images', user: 'server', configuration: { server: url } }))
  const file = join(folder, 'admission.yaml')
  const plugins = [{ name: 'ImagePolicyWebhook', configuration: { imagePolicy: { orchConfigFile: 'images' } } }]
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }))
  return file
}

test('a remote server decides which images are allowed', async () => {
  const file = aConfiguration(await aReviewer())
  const api = await anApi({ flags: ['--enable-admission-plugins=ImagePolicyWebhook', `--admission-control-config-file=${file}`] })
  await api.post('/api/v1/namespaces/default/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } })
  await created(api, pods, aPod('a', 'ours/x:1'))
  const answer = await api.post(pods, aPod('b', 'theirs/x:1'))
  expect(answer.status).toBe(403)
  expect(answer.body['message']).toBe('pods "b" is forbidden: image policy webhook backend denied one or more images: not ours')
})

test('without a configuration the server does not start', async () => {
  await expect(openApi({ flags: ['--enable-admission-plugins=ImagePolicyWebhook'] })).rejects.toThrow(
    'ImagePolicyWebhook: expected a configuration of it in the admission configuration file',
  )
})
