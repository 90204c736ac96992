/** A member's life with a generated client, from sign-up to deletion: BASE_URL */

import java.math.BigDecimal
import java.time.LocalDate
import java.util.UUID
import org.openapitools.client.apis.BackupApi
import org.openapitools.client.apis.BillingApi
import org.openapitools.client.apis.BoardApi
import org.openapitools.client.apis.CardNotificationsApi
import org.openapitools.client.apis.EntriesApi
import org.openapitools.client.apis.ProfileApi
import org.openapitools.client.apis.QuickEntriesApi
import org.openapitools.client.apis.RecurringRulesApi
import org.openapitools.client.apis.SessionsApi
import org.openapitools.client.apis.WalletsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.EntryRowRequest
import org.openapitools.client.models.EntryWrite
import org.openapitools.client.models.LoginRequest
import org.openapitools.client.models.OwnProfileRequest
import org.openapitools.client.models.ParseNotificationRequest
import org.openapitools.client.models.PostWrite
import org.openapitools.client.models.PurchaseRequest
import org.openapitools.client.models.QuickEntryWrite
import org.openapitools.client.models.RecurringRuleWrite
import org.openapitools.client.models.RestoreRequest
import org.openapitools.client.models.SignupRequest
import org.openapitools.client.models.WalletWrite

const val PASSWORD = "a-long-password-1"
const val ALERT = "[Web발신]\n신한카드(1234)승인 김*지 8,900원(일시불)03/04 12:30 김밥천국"

// What is not named here is sent as null.
fun main(arguments: Array<String>) {
    val address = arguments[0]
    val loginId = "kotlin_${System.currentTimeMillis()}"
    join(SessionsApi(address), loginId)
    subscribe(address)
    keepBooks(address)
    restore(BackupApi(address))
    val board = BoardApi(address)
    val post = PostWrite("장보기 비용 줄이는 법", "saving", "<p>식단부터 짭니다.</p>")
    board.deletePost(board.createPost(post).id)
    val profile = ProfileApi(address)
    val changed = OwnProfileRequest("김지민", "$loginId@example.com", "ko")
    check(profile.updateProfile(changed).displayName == "김지민")
    profile.deleteAccount()
    refused(401) { SessionsApi(address).getSession() }
    println("scenario: passed")
}

/** Signs up, logs out, then logs in. */
fun join(sessions: SessionsApi, loginId: String) {
    val new = SignupRequest(loginId, PASSWORD, "김민지", "$loginId@example.com")
    ApiClient.accessToken = sessions.signUp(new).token
    sessions.logOut()
    refused(401) { sessions.getSession() }
    ApiClient.accessToken = sessions.logIn(LoginRequest(loginId, PASSWORD)).token
    check(sessions.getSession().loginId == loginId)
}

fun subscribe(address: String) {
    val billing = BillingApi(address)
    val product = billing.listProducts().first()
    val purchase = billing.verifyPurchase(PurchaseRequest(product.id, "test-${UUID.randomUUID()}"))
    check(purchase.plan == "PREMIUM")
}

fun keepBooks(address: String) {
    val wallets = WalletsApi(address)
    val wallet = wallets.createWallet(WalletWrite("신한카드", "CARD"))
    check(wallets.replaceWallet(wallet.id, WalletWrite("현대카드", "CARD")).openingBalance == 0L)
    val entries = EntriesApi(address)
    val day = LocalDate.of(2026, 3, 2)
    val lunch = EntryWrite(day, "expense", amount = 12_000, walletId = wallet.id)
    val entry = entries.createEntry(lunch)
    check(entry.tags.isEmpty())
    val book = EntryWrite(
        day,
        "expense",
        currency = "USD",
        originalAmount = BigDecimal("19.99"),
        exchangeRate = BigDecimal("1380.5"),
    )
    check(entries.createEntry(book).amount == 27_596L)
    entries.deleteEntry(entry.id)
    refused(404) { entries.getEntry(entry.id) }
    val rent = RecurringRuleWrite("월세", "expense", 600_000, "MONTHLY", day)
    check(RecurringRulesApi(address).createRecurringRule(rent).active)
    QuickEntriesApi(address).createQuickEntry(QuickEntryWrite("커피", "expense"))
    val parsed = CardNotificationsApi(address).parseNotification(ParseNotificationRequest(ALERT))
    check(parsed.amount == 8_900L)
}

fun restore(backup: BackupApi) {
    val file = backup.downloadBackup()
    val row = EntryRowRequest("expense", LocalDate.of(2026, 3, 2), amount = 500)
    val rows = RestoreRequest(propertyEntries = listOf(row))
    val fromRows = backup.restoreBackupFromJson(restoreRequest = rows)
    check(fromRows.wallets == 0L && fromRows.propertyEntries == 1L)
    val fromFile = backup.restoreBackup(file)
    check(fromFile.wallets == 1L && fromFile.propertyEntries == 1L)
}

fun refused(status: Int, call: () -> Any?) {
    val error = runCatching(call).exceptionOrNull()
    check(error is ClientException && error.statusCode == status) { "$status expected, got $error" }
}
