import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of a folder and of the folders in it, sorted. Links are not followed, because they may form a circle. */
export async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesBelow(path)))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}
