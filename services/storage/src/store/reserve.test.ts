import { describe, expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { type MeasuredFile, Reserve } from './reserve.ts'
import { pagesNeeded } from './room.ts'
import { type Batch, NoRoomError } from './tables.ts'

const pageSize = 4096
const reservePages = limits.reserveBytes / pageSize
const tree = { depth: 1, branchPages: 0, leafPages: 1, overflowPages: 0 }
const aBatch = (purpose: Batch['purpose']): Batch => ({ appended: [], removed: [], meta: { revision: 2 }, purpose })

/** A reserve over a file that does not exist, on a disk with room for a given number of pages. */
function aReserve({ usedPages = 10, filePages = 10, freePages = 0, diskPages = Number.POSITIVE_INFINITY } = {}) {
  const world = { usedPages, freePages, diskPages, extensions: 0, reason: 'ENOSPC' }
  let bytes = filePages * pageSize
  const file = {
    get bytes() {
      return bytes
    },
    async extend(wanted: number) {
      world.extensions++
      bytes = Math.max(bytes, Math.min(wanted, world.diskPages * pageSize))
      if (bytes < wanted) throw Object.assign(new Error(world.reason), { code: world.reason })
    },
  }
  const shape = (): MeasuredFile => ({
    pageSize,
    log: tree,
    latest: tree,
    free: tree,
    freePages: world.freePages,
    usedPages: world.usedPages,
  })
  const reserve = new Reserve({ file, measure: shape, explain: (cause) => `full: ${(cause as Error).message}` })
  const needed = pagesNeeded(aBatch('put'), shape())
  return { reserve, world, file, needed }
}

describe('the reserve of a data file', () => {
  test('writes the pages of a batch ahead, and more than the batch needs', async () => {
    const { reserve, world, file, needed } = aReserve()
    expect(reserve.tryHold(aBatch('put'))).toBeUndefined()
    expect(await reserve.hold(aBatch('put'))).toBe(needed)
    expect(file.bytes).toBe((10 + needed + reservePages) * pageSize + limits.fileGrowthBytesMin)
    expect(reserve.tryHold(aBatch('put'))).toBeGreaterThanOrEqual(needed)
    expect(world.extensions).toBe(1)
  })

  test('counts open batches until they are released', async () => {
    const { needed } = aReserve()
    const pages = 10 + reservePages + Math.floor(needed * 1.5)
    const { reserve } = aReserve({ filePages: pages, diskPages: pages })
    const held = reserve.tryHold(aBatch('put'))!
    await expect(reserve.hold(aBatch('put'))).rejects.toThrow(NoRoomError)
    reserve.giveBack(held)
    expect(await reserve.hold(aBatch('put'))).toBe(needed)
  })

  test('does not count a failure for another reason as a full disk', async () => {
    const { reserve, world } = aReserve({ diskPages: 10 })
    world.reason = 'EIO'
    const failure = await reserve.hold(aBatch('put')).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'EIO' })
    expect(failure).not.toBeInstanceOf(NoRoomError)
    expect(reserve.isFull).toBe(false)
  })

  test.each([
    ['put', reservePages],
    ['delete', reservePages / 2],
    ['sweep', 0],
  ] as const)('leaves %i pages after a %s on a full disk', async (purpose, left) => {
    const { needed } = aReserve()
    const enough = aReserve({ filePages: 10 + needed + left, diskPages: 10 + needed + left })
    expect(await enough.reserve.hold(aBatch(purpose))).toBe(needed)
    expect([enough.reserve.isFull, enough.world.extensions]).toEqual([false, 0])
    const short = aReserve({ filePages: 9 + needed + left, diskPages: 9 + needed + left })
    await expect(short.reserve.hold(aBatch(purpose))).rejects.toThrow('full: ENOSPC')
    expect(short.reserve.isFull).toBe(true)
  })

  test('on a full disk refuses a put, and admits a delete or sweep that leaves exactly the reserve', async () => {
    const { needed } = aReserve()
    for (const [purpose, left] of [
      ['delete', reservePages / 2],
      ['sweep', 0],
    ] as const) {
      const pages = 10 + needed + left
      const { reserve } = aReserve({ filePages: pages, diskPages: pages })
      await expect(reserve.hold(aBatch('put'))).rejects.toThrow(NoRoomError)
      expect(reserve.isFull).toBe(true)
      expect(await reserve.hold(aBatch(purpose))).toBe(needed)
      expect(reserve.isFull).toBe(true)
    }
  })

  test('counts half of the free pages inside the file, and none of them for the batch itself', async () => {
    const { needed } = aReserve()
    const diskPages = 10 + needed
    const few = aReserve({ filePages: diskPages, diskPages, freePages: reservePages })
    await expect(few.reserve.hold(aBatch('put'))).rejects.toThrow(NoRoomError)
    const many = aReserve({ filePages: diskPages + 10, diskPages: diskPages + 10, freePages: reservePages * 2 })
    expect(await many.reserve.hold(aBatch('put'))).toBeGreaterThanOrEqual(needed)
    const none = aReserve({ filePages: diskPages - 1, diskPages: diskPages - 1, freePages: reservePages * 20 })
    await expect(none.reserve.hold(aBatch('sweep'))).rejects.toThrow(NoRoomError)
  })

  test('reports a full disk until an extension succeeds', async () => {
    const { reserve, world } = aReserve({ diskPages: 20 })
    await expect(reserve.hold(aBatch('put'))).rejects.toThrow(NoRoomError)
    expect(reserve.tryHold(aBatch('sweep'))).toBeUndefined()
    world.diskPages = 10_000
    await reserve.hold(aBatch('put'))
    expect(reserve.isFull).toBe(false)
  })
})
