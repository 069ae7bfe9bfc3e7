import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { anApi } from '../api/api.ts'
import { blocksOf } from './page.ts'

test.each<[string, (file: string) => string[]]>([
  ['how-to/audit.md', (file) => [`--audit-policy-file=${file}`, `--audit-log-path=${file}.log`]],
  ['how-to/admission-security.md', (file) => [`--admission-control-config-file=${file}`]],
])('a server starts with the first file that docs/%s shows', async (page, flagsFor) => {
  const file = join(aFolder(), 'file.yaml')
  writeFileSync(file, blocksOf(page, 'yaml')[0] ?? '')
  const api = await anApi({ flags: flagsFor(file) })
  expect((await api.get('/readyz')).status).toBe(200)
})

test('the role in docs/how-to/explain.md can be created unchanged', async () => {
  const api = await anApi()
  const [body = ''] = blocksOf('how-to/explain.md', 'yaml')
  const headers = { 'content-type': 'application/yaml' }
  const answer = await api.send('POST', '/apis/rbac.authorization.orch.io/v1/clusterroles?fieldValidation=Strict', { body, headers })
  expect({ status: answer.status, name: answer.body.metadata.name }).toEqual({ status: 201, name: 'explain' })
})

test('the APIService in docs/how-to/aggregation.md can be created unchanged', async () => {
  const api = await anApi()
  const [body = ''] = blocksOf('how-to/aggregation.md', 'yaml')
  const headers = { 'content-type': 'application/yaml' }
  const answer = await api.send('POST', '/apis/apiregistration.orch.io/v1/apiservices?fieldValidation=Strict', { body, headers })
  expect({ status: answer.status, name: answer.body.metadata.name }).toEqual({ status: 201, name: 'v1alpha1.wardle.example.com' })
})

test('the FaultRule in docs/how-to/weather.md can be created unchanged', async () => {
  const api = await anApi({ flags: ['--fault-injection'] })
  const [body = ''] = blocksOf('how-to/weather.md', 'yaml')
  const headers = { 'content-type': 'application/yaml' }
  const answer = await api.send('POST', '/apis/faults.orch.io/v1/faultrules?fieldValidation=Strict', { body, headers })
  expect(answer).toMatchObject({ status: 201, body: { spec: { match: { user: 'operator', verb: ['create'] } } } })
})

test('the paths that docs/how-to/telemetry.md requests with kubectl exist', async () => {
  const api = await anApi()
  const paths = [...(blocksOf('how-to/telemetry.md', 'sh')[0] ?? '').matchAll(/--raw '?(\S+?)'?$/gm)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(2)
  for (const path of paths) expect({ path, status: (await api.get(path)).status }).toEqual({ path, status: 200 })
})
