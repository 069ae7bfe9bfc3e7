module.exports = { testTimeout: 180_000 }
