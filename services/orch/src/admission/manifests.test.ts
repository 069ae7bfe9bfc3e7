import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogue } from '@orch/core/catalogue'
import { createLifecycle, createMetrics, silentLog, systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openManifests } from './open.ts'

const plugin = 'MutatingAdmissionWebhook'
const manifest = (name: string) =>
  JSON.stringify({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata: { name } })

/** The manifests in a folder with one file, `a.json`. */
async function open(folder = aFolder()) {
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write('a.json', manifest('a.static.k8s.io'))
  write('ignored.txt', '{')
  const clock = createFakeClock()
  const lifecycle = createLifecycle({ log: silentLog })
  onTestFinished(() => lifecycle.stop())
  const metrics = createMetrics({ process: false })
  const catalogue = createCatalogue('kubernetes', { minor: 37 })
  const opened = await openManifests([{ plugin, folder }], { catalogue, clock, lifecycle, log: silentLog, chance: systemChance, metrics })
  const names = () =>
    opened
      .get(plugin)
      ?.of('MutatingWebhookConfiguration')
      .map(({ metadata }) => metadata.name)
  const counts = async () =>
    [...(await metrics.text()).matchAll(/automatic_reloads_total\{apiserver_id_hash="\S+?",plugin="\w+",status="(\w+)"\} (\d+)/g)].map(
      ([, status, count]) => [status, count],
    )
  return { folder, write, clock, names, counts }
}

test('manifests are read again when a file changes; invalid ones leave the present ones in use and are counted', async () => {
  const { folder, write, clock, names, counts } = await open()
  expect([names(), await counts()]).toEqual([['a.static.k8s.io'], [['success', '1']]])
  write('b.json', manifest('b'))
  clock.advance(10_000)
  await vi.waitFor(async () => expect(await counts()).toContainEqual(['failure', '1']))
  expect(names()).toEqual(['a.static.k8s.io'])
  write('b.json', manifest('b.static.k8s.io'))
  rmSync(join(folder, 'a.json'))
  clock.advance(10_000)
  await vi.waitFor(() => expect(names()).toEqual(['b.static.k8s.io']))
})

test('a link without a file is refused by its name', async () => {
  const folder = aFolder()
  symlinkSync(join(folder, 'absent'), join(folder, 'b.yaml'))
  await expect(open(folder)).rejects.toThrow(`${join(folder, 'b.yaml')} cannot be read (ENOENT)`)
})

test('a folder, and a link to a pipe, are passed over', async () => {
  const folder = aFolder()
  execFileSync('mkfifo', [join(folder, 'pipe')])
  symlinkSync(join(folder, 'pipe'), join(folder, 'b.yaml'))
  mkdirSync(join(folder, 'c.yaml'))
  expect((await open(folder)).names()).toEqual(['a.static.k8s.io'])
})
