import { readSettings } from '@orch/platform'
import { expect, test } from 'vitest'
import { sharedWhereSingle, upDistributedSettings } from './up.ts'

function countsOf(...flags: string[]) {
  const { values, texts } = readSettings(upDistributedSettings, { flags, env: {} })
  const { gateways, storages, watches, admissions } = sharedWhereSingle(values, texts)
  return { gateways, storages, watches, admissions }
}

test('storages host watch, and several gateways get a separate admission process', () => {
  expect(countsOf()).toEqual({ gateways: 2, storages: 2, watches: 0, admissions: 1 })
  expect(countsOf('--storages=1')).toEqual({ gateways: 2, storages: 1, watches: 0, admissions: 1 })
})

test('a single gateway hosts admission', () => {
  expect(countsOf('--gateways=1')).toEqual({ gateways: 1, storages: 2, watches: 0, admissions: 0 })
})

test('a given number of processes is accepted, even if it is the default', () => {
  const one = ['--gateways=1', '--storages=1']
  expect(countsOf(...one, '--watches=2', '--admissions=1')).toEqual({ gateways: 1, storages: 1, watches: 2, admissions: 1 })
  expect(countsOf('--watches=0', '--admissions=0')).toEqual({ gateways: 2, storages: 2, watches: 0, admissions: 0 })
})
