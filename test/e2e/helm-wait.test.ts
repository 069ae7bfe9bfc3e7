import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ApiObject } from '@orch/core/meta'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, test } from 'vitest'
import { findProgram, withoutPrograms } from '../programs.ts'
import { aKubectl, ownServer } from './kubectl.ts'

const helm = findProgram('helm')
const run = promisify(execFile)

interface Workload extends ApiObject {
  readonly status?: { readonly readyReplicas?: number }
}

const template = `
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {simulation.orch.io/readiness: "0s:fail,{{ .Values.readyAfter }}:pass"}
    spec: {containers: [{name: web, image: 'web:1', readinessProbe: {periodSeconds: 1, httpGet: {port: 80}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 2
  selector: {matchLabels: {db: {{ .Release.Name }}}}
  serviceName: {{ .Release.Name }}
  template:
    metadata: {labels: {db: {{ .Release.Name }}}}
    spec: {containers: [{name: db, image: 'db:1'}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: post-install, helm.sh/hook-delete-policy: hook-succeeded}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: 'db:1'}]}}}
`

function aChart(): string {
  const folder = aFolder()
  mkdirSync(join(folder, 'templates'))
  writeFileSync(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: web\nversion: 0.1.0\n')
  writeFileSync(join(folder, 'values.yaml'), 'readyAfter: 1s\n')
  writeFileSync(join(folder, 'templates/all.yaml'), template)
  return folder
}

describe.skipIf(helm === undefined)(`helm install --wait${withoutPrograms('helm')}`, () => {
  test('ends when the Pods of a chart are ready and its hooks are done, and fails for Pods that do not become ready', {
    timeout: 120_000,
  }, async () => {
    const server = await ownServer({ nodes: 2 })
    const { env } = await aKubectl('kubectl', async () => server)
    const chart = aChart()
    const install = (name: string, ...flags: string[]) =>
      run(helm ?? '', ['install', name, chart, '--wait', ...flags], { env, timeout: 90_000 })
    await install('shop', '--timeout=60s')
    const read = (plural: string) => server.client.resource<Workload>({ group: 'apps', version: 'v1', plural, namespaced: true })
    for (const plural of ['deployments', 'statefulsets']) {
      expect(await read(plural).get('shop', { namespace: 'default' })).toMatchObject({ status: { readyReplicas: 2 } })
    }
    expect((await server.client.resource({ group: 'batch', version: 'v1', plural: 'jobs', namespaced: true }).list()).items).toEqual([])
    await expect(install('late', '--set=readyAfter=1h', '--timeout=3s')).rejects.toThrow(/deadline exceeded|not ready/)
  })
})
