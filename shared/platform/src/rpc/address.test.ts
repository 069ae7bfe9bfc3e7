import { contract, unary, wire } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { isLoopback, parseRpcAddress, resolveTargets, systemLookup } from './address.ts'
import { dialContract } from './dial.ts'
import { healthContract, servingStatus } from './health.ts'
import { serveContract } from './offer.ts'
import { openRpcServer } from './server.ts'

test('an address names one replica, or all replicas of a name', () => {
  expect(parseRpcAddress('storage-0:7000')).toEqual({ kind: 'one', host: 'storage-0', port: 7000 })
  expect(parseRpcAddress('10.0.0.1:7000')).toEqual({ kind: 'one', host: '10.0.0.1', port: 7000 })
  expect(parseRpcAddress('[::1]:7000')).toEqual({ kind: 'one', host: '::1', port: 7000 })
  expect(parseRpcAddress('dns:///storage.orch-system:7000')).toEqual({ kind: 'all', host: 'storage.orch-system', port: 7000 })
  for (const text of [
    '',
    'storage',
    'storage:',
    ':7000',
    'storage:70000',
    'storage:x',
    '::1:7000',
    '[storage]:7000',
    'dns://storage:7000',
    'a b:1',
  ])
    expect(parseRpcAddress(text), text).toBeUndefined()
})

test('loopback addresses never leave this machine', () => {
  expect(['localhost', '127.0.0.1', '127.1.2.3', '::1'].filter(isLoopback).length).toBe(4)
  expect(['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '127.example.com'].filter(isLoopback)).toEqual([])
})

test('a name has as many targets as addresses, and each certificate must contain the name', async () => {
  expect(await resolveTargets({ kind: 'one', host: '::1', port: 7 }, systemLookup)).toEqual([{ address: '[::1]:7', host: '::1' }])
  const targets = await resolveTargets({ kind: 'all', host: 'localhost', port: 7 }, systemLookup)
  expect(targets).toContainEqual({ address: '127.0.0.1:7', host: 'localhost' })
})

const note = wire.message({ text: wire.string(1) })
const notes = contract('test.v1.Notes', { ask: unary(note, note) })

test('a server reports its health, and gets calls only when it accepts calls', async () => {
  const offers = [serveContract(notes, { ask: async (request) => request })]
  const server = await openRpcServer({ address: '127.0.0.1:0', offers, serving: false, log: silentLog })
  const options = { addresses: [`dns:///localhost:${server.address.split(':')[1]}`], random: Math.random, log: silentLog }
  const [health, dialled] = [dialContract(healthContract, options), dialContract(notes, options)]
  onTestFinished(() => {
    health.close()
    dialled.close()
    server.close()
  })
  await expect(dialled.service.ask({ text: 'a' })).rejects.toMatchObject({ code: 503 })
  expect(dialled.isReady()).toBe(false)
  server.setServing(true)
  await Promise.all([dialled.reached, health.reached])
  expect(await dialled.service.ask({ text: 'a' })).toEqual({ text: 'a' })
  expect(await health.service.check({ service: 'test.v1.Notes' })).toEqual({ status: servingStatus.serving })
  await expect(health.service.check({ service: 'test.v1.Other' })).rejects.toMatchObject({ code: 404 })
})
