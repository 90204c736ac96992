from django.db import migrations, models

# PostgreSQL does not change the type of a column that triggers name. Their functions
# stay. A longer limit of characters writes no row anew.
DROP_TRIGGERS = """
    DROP TRIGGER member_premium_since ON member;
    DROP TRIGGER count_updated_member ON member;
    DROP TRIGGER update_member_sessions ON member;
"""
CREATE_TRIGGERS = """
    CREATE TRIGGER member_premium_since
    BEFORE INSERT OR UPDATE OF role, plan, plan_expires_at, plan_auto_renew ON member
    FOR EACH ROW EXECUTE FUNCTION member_premium_since();

    CREATE TRIGGER count_updated_member
    AFTER UPDATE OF role, status, plan ON member
    FOR EACH ROW WHEN (
        (OLD.role, OLD.status, OLD.plan)
        IS DISTINCT FROM (NEW.role, NEW.status, NEW.plan)
    )
    EXECUTE FUNCTION count_updated_member();

    CREATE TRIGGER update_member_sessions
    AFTER UPDATE OF
        login_id, display_name, locale, role, status, plan, plan_expires_at,
        plan_auto_renew
    ON member
    FOR EACH ROW WHEN (
        (
            OLD.login_id, OLD.display_name, OLD.locale, OLD.role, OLD.status,
            OLD.plan, OLD.plan_expires_at, OLD.plan_auto_renew
        ) IS DISTINCT FROM (
            NEW.login_id, NEW.display_name, NEW.locale, NEW.role, NEW.status,
            NEW.plan, NEW.plan_expires_at, NEW.plan_auto_renew
        )
    )
    EXECUTE FUNCTION update_member_sessions();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_blocks")]

    operations = [
        # An index with a condition on the column would be built anew under the lock.
        migrations.RemoveIndex(model_name="member", name="member_admins"),
        migrations.RunSQL(DROP_TRIGGERS, CREATE_TRIGGERS),
        migrations.AddField(
            model_name="member",
            name="silence_reason",
            field=models.CharField(
                blank=True, db_default="", editable=False, max_length=500
            ),
        ),
        migrations.AddField(
            model_name="member",
            name="silenced_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="member",
            name="suspended_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="member",
            name="suspension_reason",
            field=models.CharField(
                blank=True, db_default="", editable=False, max_length=500
            ),
        ),
        migrations.AlterField(
            model_name="member",
            name="role",
            field=models.CharField(
                choices=[
                    ("MEMBER", "Member"),
                    ("MODERATOR", "Moderator"),
                    ("ADMIN", "Admin"),
                ],
                default="MEMBER",
                max_length=9,
            ),
        ),
        migrations.AlterField(
            model_name="membercount",
            name="role",
            field=models.CharField(max_length=9),
        ),
        migrations.RunSQL(CREATE_TRIGGERS, DROP_TRIGGERS),
    ]
