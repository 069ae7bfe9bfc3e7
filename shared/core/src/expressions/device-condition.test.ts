import { expect, test } from 'vitest'
import { deviceCondition } from './device-condition.ts'

test('a device that two drivers share as an object has the name of each', () => {
  const condition = deviceCondition('device.driver == "one.example.com"', { level: 37, hasSharing: false, hasLists: false })
  const device = { name: 'a' }
  const ask = (driver: string) => condition.kind === 'condition' && condition.ask(driver, device)
  expect(['two.example.com', 'one.example.com', 'two.example.com'].map(ask)).toEqual([false, true, false])
})
