import { startGlobalServer } from './dist/testing.js'

export default function setup() {
  return startGlobalServer()
}
