import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aConfiguration, aHook } from '../admission/hooks.ts'
import { answering, aWebhookServer, patching } from '../admission/webhook-server.ts'
import { sharedApi } from '../api/api.ts'

const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

interface Step {
  readonly durationMs: number
}

/** Times differ between runs. */
function withoutTimes({ admission, ...told }: { readonly admission: readonly Step[] }) {
  return { ...told, admission: admission.map(({ durationMs: _durationMs, ...step }) => step) }
}

test('the example in the documents is the answer to a request that two webhooks change and a third denies', async () => {
  const { api } = server
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }]
  const mirror = await aWebhookServer(
    patching(() => [{ op: 'replace', path: '/spec/containers/0/image', value: 'mirror.example.com/web:1' }]),
  )
  const team = await aWebhookServer(patching(() => [{ op: 'add', path: '/metadata/labels', value: { team: 'blue' } }]))
  const policy = await aWebhookServer(answering(() => ({ allowed: false, status: { code: 403, message: 'images need a digest' } })))
  const named = (name: string) => ({ name: `${name}.example.com`, rules })
  await aConfiguration(api, 'mutating', [aHook(mirror, 'default', named('mirror')), aHook(team, 'default', named('team'))])
  await aConfiguration(api, 'validating', [aHook(policy, 'default', named('policy'))])
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'web', image: 'web:1' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }
  const { headers } = await api.post('/api/v1/namespaces/default/pods', pod, { 'orch-explain': '1' })
  const told = JSON.parse(String(headers['orch-explain']))
  const notable = told.admission.filter((step: object) => 'patch' in step || 'rejected' in step)
  const text = readFileSync(new URL('../../docs/how-to/explain.md', import.meta.url), 'utf8')
  const example = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '')
  expect(withoutTimes({ ...told, admission: notable })).toEqual(withoutTimes(example))
})
